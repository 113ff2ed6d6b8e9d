/** The words that explanations and events share, so that both say the same of the same thing. */

/** Why an instance sleeps. */
export function quietFor(cooldownMs: number): string {
  return `nothing asked for it for ${seconds(cooldownMs)}`
}

/** Why an instance sleeps that a user sent to standby. */
export const userSaidSo = 'its user said so'
export const somethingAsked = 'something asked for it'
export const applicationEntered = 'its application has begun'
export const itWasShutDown = 'it was shut down'

export function memoryIsKept(snapshotUuid: string): string {
  return `its memory is kept in snapshot ${snapshotUuid}`
}

export function startsAgainAt(atMs: number): string {
  return `its restart policy starts it again at ${timeOf(atMs)}`
}

export function seconds(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`
}

export function timeOf(atMs: number | undefined): string {
  return atMs === undefined ? 'an unknown time' : new Date(atMs).toISOString()
}
