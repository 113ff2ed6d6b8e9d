import { doublingDelayMs } from '../doubling-delay.ts'

/**
 * These functions say when a certificate's next attempt, its renewal or the next question about it is due.
 * All are pure: jitter comes from the certificate's own UUID.
 */

export interface Validity {
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

/** When the authority would like the renewal (RFC 9773), and when it wants to be asked again. */
export interface RenewalAdvice {
  readonly window?: { readonly startMs: number; readonly endMs: number }
  readonly askAgainAtMs?: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/**
 * The back-off after a failed attempt, as the integration guide of Let's Encrypt recommends. Beside each
 * stands the time since the first attempt. After these it is a day: the eighth attempt, the last one while
 * pending, comes after 4 d 1 h 51 min.
 */
const backOffMs = [
  minuteMs, //       1 min
  10 * minuteMs, //  11 min
  100 * minuteMs, // 1 h 51 min
] as const

/**
 * The largest number of attempts while the certificate is pending. A name that has led elsewhere for days
 * is not corrected by more attempts. Attempts to renew are made until the certificate ends.
 */
export const maxAttempts = 8

/** Returns when the next attempt is due. `attempt` is the number of the failed attempt, from 1. */
export function nextAttemptAtMs(attempt: number, nowMs: number): number {
  return nowMs + (backOffMs[attempt - 1] ?? dayMs)
}

/**
 * When to ask again for a renewal that the authority refused. It is asked this seldom, as long as the present
 * certificate lasts.
 */
export function refusedAgainAtMs(nowMs: number): number {
  return nowMs + dayMs
}

/**
 * The shortest time for which a step is put off. It keeps Roost from flooding an authority that wants no
 * requests.
 */
const leastDelayMs = minuteMs
/**
 * The longest time for which a step is put off, whatever `Retry-After` says. No authority means a longer
 * time: such a date is often a mistake, and the certificate must not be forgotten. If Roost asks too early,
 * the authority puts the step off again.
 */
export const longestDelayMs = 30 * dayMs
/** The delay if the authority names no time: 1, 2, 4, 8, 16, 32 min, then hourly. */
const untoldDelay = { firstMs: leastDelayMs, longestMs: hourMs }

/**
 * When to ask again: at the time that the authority named, within the bounds. `delays` counts how often in a
 * row it has put the step off before.
 */
export function putOffUntilMs(
  told: { readonly retryAtMs?: number; readonly delays: number },
  nowMs: number,
): number {
  const { retryAtMs, delays } = told
  const untoldMs = doublingDelayMs(untoldDelay, delays)
  const delayMs = retryAtMs === undefined ? untoldMs : retryAtMs - nowMs
  return nowMs + Math.min(Math.max(delayMs, leastDelayMs), longestDelayMs)
}

/**
 * The part of the certificate's life after which its renewal is due. Up to a twentieth of the life is
 * subtracted, so that not all renewals come at once.
 */
const renewalAt = 2 / 3
const renewalSpread = 1 / 20
/**
 * The part of a certificate's life after which its renewal must be due, even if the authority advises a
 * later time: attempts that fail need time.
 */
const latestRenewalAt = 9 / 10
/** The least time from the installation of a certificate to its renewal, whatever its validity says. */
const leastRestMs = minuteMs

/** Returns when the renewal is due. `spread` is the certificate's own number, from `spreadOf`. */
export function renewalAtMs(
  { notBeforeMs, notAfterMs }: Validity,
  { spread, nowMs }: { readonly spread: number; readonly nowMs: number },
): number {
  const share = renewalAt - renewalSpread * spread
  return Math.max(notBeforeMs + Math.floor((notAfterMs - notBeforeMs) * share), nowMs + leastRestMs)
}

/**
 * Returns when an advised renewal is due: at a time in the window that the authority named, or at once if
 * that time has passed.
 */
export function advisedAtMs(
  { notBeforeMs, notAfterMs }: Validity,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
  { spread, nowMs }: { readonly spread: number; readonly nowMs: number },
): number {
  const latestMs = notBeforeMs + Math.floor((notAfterMs - notBeforeMs) * latestRenewalAt)
  const wantedMs = startMs + Math.floor((endMs - startMs) * spread)
  return Math.max(Math.min(wantedMs, latestMs), nowMs + leastRestMs)
}

/**
 * The shortest and the longest time between two questions about a renewal. The longest is a day, because an
 * authority that has to revoke many certificates announces it by the renewal windows in its answers.
 */
const soonestQuestionMs = hourMs
const latestQuestionMs = dayMs

export function askAgainAtMs(advice: RenewalAdvice, nowMs: number): number {
  const wantedMs = (advice.askAgainAtMs ?? nowMs + latestQuestionMs) - nowMs
  return nowMs + Math.min(Math.max(wantedMs, soonestQuestionMs), latestQuestionMs)
}

const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193
const hashValues = 2 ** 32

/** The certificate's own number from 0 to below 1, by the FNV-1a hash of its UUID. */
export function spreadOf(uuid: string): number {
  let hash = fnvOffset
  for (const character of uuid) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), fnvPrime)
  return (hash >>> 0) / hashValues
}
