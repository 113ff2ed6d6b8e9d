/** Whether an application answers: one look, which the host of its instance makes. */
export interface InstanceCheck {
  readonly port: number
  /** The path of a `GET`. Without it, it is enough that something accepts connections. */
  readonly path?: string
  /** The status of a good answer. Without it, each of 200 to 399 is good. */
  readonly status?: number
  /**
   * How long the host waits for an instance that comes up, and after that how long the application may take
   * to answer.
   */
  readonly timeoutMs: number
}

export type CheckResult = { readonly ok: true } | { readonly ok: false; readonly why: string }

/** The longest path of a check. It stands in events and in errors, so it is short. */
export const maxCheckPathLength = 256
/** What a path of a check is made of: visible characters of ASCII. `#` begins what is never sent. */
export const checkPathForm = '^/[!"$-~]*$'
export const checkPathPattern = new RegExp(checkPathForm)
/** The statuses that end a request. Those below 200 only come before another one. */
export const leastCheckStatus = 200
export const mostCheckStatus = 599
/** A shorter time would fail on a busy host alone, and a longer one would hold one of `maxHostChecks`. */
export const leastCheckTimeoutMs = 100
export const mostCheckTimeoutMs = 30_000
/** The most checks that one host makes at a time. Each has one connection. */
export const maxHostChecks = 64

const maxPort = 65_535

/** Reads a check that came as JSON. Returns a sentence about what is wrong with it if something is. */
export function instanceCheck(value: unknown): InstanceCheck | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'a check must be an object'
  const { port, path, status, timeoutMs } = value as Readonly<Record<string, unknown>>
  if (!isWhole(port, 1, maxPort)) return wrong('port', port, wholeNumber(1, maxPort))
  if (!isWhole(timeoutMs, leastCheckTimeoutMs, mostCheckTimeoutMs))
    return wrong('timeoutMs', timeoutMs, wholeNumber(leastCheckTimeoutMs, mostCheckTimeoutMs))
  if (path === undefined)
    return status === undefined ? { port, timeoutMs } : "'status' is only for a check with a 'path'"
  if (typeof path !== 'string' || path.length > maxCheckPathLength || !checkPathPattern.test(path))
    return wrong('path', path, checkPathSentence)
  if (status === undefined) return { port, path, timeoutMs }
  return isWhole(status, leastCheckStatus, mostCheckStatus)
    ? { port, path, status, timeoutMs }
    : wrong('status', status, wholeNumber(leastCheckStatus, mostCheckStatus))
}

export const checkPathSentence =
  `'/' and up to ${String(maxCheckPathLength - 1)} more visible characters of ASCII without '#'` as const
/** The most characters of a wrong value that an error repeats. */
const maxShownLength = 64

function wrong(name: string, value: unknown, wanted: string): string {
  const text = JSON.stringify(value) ?? 'absent'
  const shown = text.length > maxShownLength ? `${text.slice(0, maxShownLength)}...` : text
  return `'${name}' must be ${wanted}, but is ${shown}`
}

function wholeNumber(least: number, most: number): string {
  return `a whole number from ${String(least)} to ${String(most)}`
}

function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}
