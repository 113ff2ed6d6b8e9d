import { PlatformPart } from './platform-part.ts'

/**
 * The names that certificates give to the parts of an installation, such as `h2.agent.roost.internal`. A name
 * tells what the part is and which one. The agent of a host has the host's id. Each certificate also has the
 * name of the kind alone, `agent.roost.internal`, for clients that may speak to any part of a kind.
 */
export interface PartName {
  readonly part: PlatformPart
  readonly id: string
}

const domain = 'roost.internal'
const idPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const parts: ReadonlySet<string> = new Set(Object.values(PlatformPart))

/** Whether a part may have this id. It is one label of a name in DNS. */
export function isPartId(text: string): boolean {
  return idPattern.test(text)
}

/** The ids of parts that run beside the API are random bytes in hexadecimal digits. */
export const besideIdBytes = 6
const besidePattern = new RegExp(`^[\\da-f]{${besideIdBytes * 2}}$`)

/** Whether an id is that of a part beside the API. No machine that joins gets such an id. */
export function isBesideId(id: string): boolean {
  return besidePattern.test(id)
}

/** Whether a machine that joins may have this id. */
export function isHostId(text: string): boolean {
  return isPartId(text) && !isBesideId(text)
}

/** What `isHostId` asks for, in words. */
export const hostIdRule =
  'lower-case letters, digits and hyphens, at most 63, with no hyphen at either end, and not 12 hexadecimal digits'

/** The name of all parts of a kind. */
export function kindName(part: PlatformPart): string {
  return `${part}.${domain}`
}

export function fullName({ part, id }: PartName): string {
  return `${id}.${kindName(part)}`
}

/** The name of the agent of a host. */
export function agentName(hostId: string): string {
  return fullName({ part: PlatformPart.Agent, id: hostId })
}

/** The part that a certificate with these names is for. Undefined unless it is exactly one part. */
export function partNamed(names: readonly string[]): PartName | undefined {
  const found = names.flatMap((name): PartName[] => {
    const [id = '', part = '', ...rest] = name.split('.')
    return rest.join('.') === domain && isPart(part) && isPartId(id) ? [{ part, id }] : []
  })
  return found.length === 1 ? found[0] : undefined
}

function isPart(text: string): text is PlatformPart {
  return parts.has(text)
}
