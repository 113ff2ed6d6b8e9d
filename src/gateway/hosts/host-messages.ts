import type { HostMessage, OpenLease, OpenRefusal } from '../../domain/standby/lease-protocol.ts'

/** Thrown on a line that does not follow the protocol. Its sender must not be trusted any further. */
export class HostMessageError extends Error {
  override readonly name = 'HostMessageError'
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Checks the fields on which decisions are built. Throws `HostMessageError`. Returns undefined for a message
 * of a newer protocol, which is to be ignored.
 */
export function hostMessage(line: object): HostMessage | undefined {
  const fields = line as Fields
  switch (fields['kind']) {
    case 'welcome':
    case 'beat':
      return line as HostMessage
    case 'opened':
      require(isOpened(fields), 'opened')
      return line as HostMessage
    case 'refused':
      require(isRefused(fields), 'refused')
      return line as HostMessage
    case 'report':
      require(isCount(fields['number']), 'report')
      return line as HostMessage
    case 'share':
    case 'spare':
      require(isShareChange(fields), fields['kind'])
      return line as HostMessage
    case 'settings':
      require(isSettings(fields), fields['kind'])
      return line as HostMessage
    case 'rest':
      require(isText(fields['instance']) && isCount(fields['boot']) && isCount(fields['withinMs']), fields[
        'kind'
      ])
      return line as HostMessage
    case 'drain':
    case 'undrain':
    case 'close':
    case 'gone':
      require(isText(fields['instance']) && isCount(fields['boot']), fields['kind'])
      return line as HostMessage
    default:
      return undefined
  }
}

function require(holds: boolean, kind: string): void {
  if (!holds) throw new HostMessageError(`a host sent a malformed '${kind}'`)
}

const refusalReasons: ReadonlySet<unknown> = new Set<OpenRefusal['reason']>([
  'stopped',
  'draining',
  'unknown',
  'failed',
])

function isRefused(fields: Fields): boolean {
  return (
    isText(fields['instance']) &&
    isCount(fields['epoch']) &&
    refusalReasons.has(fields['reason']) &&
    typeof fields['message'] === 'string' &&
    isCount(fields['retryAfterMs'])
  )
}

function isOpened(fields: Fields): boolean {
  const { returnAfterMs, reach, share } = fields as Partial<OpenLease>
  return (
    isText(fields['instance']) &&
    ['epoch', 'boot', 'memoryBoot'].every((name) => isCount(fields[name])) &&
    (returnAfterMs === undefined || isCount(returnAfterMs)) &&
    (share === undefined || isCount(share)) &&
    typeof reach === 'object' &&
    reach !== null &&
    Object.values(reach as Record<string, unknown>).every(isAddress)
  )
}

function isSettings(fields: Fields): boolean {
  const { returnAfterMs, quietConnectionsSleep } = fields
  return (
    isText(fields['instance']) &&
    isCount(fields['boot']) &&
    (returnAfterMs === undefined || isCount(returnAfterMs)) &&
    typeof quietConnectionsSleep === 'boolean'
  )
}

function isShareChange(fields: Fields): boolean {
  return isText(fields['instance']) && isCount(fields['memoryBoot']) && isCount(fields['count'])
}

function isAddress(value: unknown): boolean {
  const { host, port } = (value ?? {}) as Fields
  return isText(host) && isCount(port) && port > 0 && port < 65_536
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
