/**
 * When a certificate's next attempt, renewal or question is due. All pure: jitter comes from the
 * certificate's own uuid.
 */

export interface Validity {
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

/** When the authority would like the renewal (RFC 9773), and when it is to be asked again. */
export interface RenewalAdvice {
  readonly window?: { readonly startMs: number; readonly endMs: number }
  readonly askAgainAtMs?: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/**
 * After a failed attempt, as the integration guide of Let's Encrypt has it; beside each, what has passed
 * since the first attempt. Then daily: the last attempt that is allowed while pending, the eighth, comes
 * after 4 d 1 h 51 min.
 */
const backOffMs = [
  minuteMs, //       1 min
  10 * minuteMs, //  11 min
  100 * minuteMs, // 1 h 51 min
] as const

/**
 * While pending: a name that leads elsewhere for days does not mend itself. Renewals go on until the
 * certificate ends.
 */
export const maxAttempts = 8

/** `attempt` is the one that failed, from 1. */
export function nextAttemptAtMs(attempt: number, nowMs: number): number {
  return nowMs + (backOffMs[attempt - 1] ?? dayMs)
}

/** What will never be issued is asked for again this seldom, as long as there is a certificate to renew. */
export function refusedAgainAtMs(nowMs: number): number {
  return nowMs + dayMs
}

/**
 * An authority that wants to be left alone: not for less, so that nobody is hammered; not for more, so that
 * none is forgotten.
 */
const leastDelayMs = minuteMs
/**
 * All that `Retry-After` may say: nobody means longer than that, and a date is often a mistake. Who comes
 * before is sent away again.
 */
export const longestDelayMs = 30 * dayMs
/** Without a word of when: 1, 2, 4, 8, 16, 32 min, then hourly. */
const longestUntoldDelayMs = hourMs

/** When to come again: as told, in bounds. `delays` counts how often in a row that was before. */
export function putOffUntilMs(
  told: { readonly retryAtMs?: number; readonly delays: number },
  nowMs: number,
): number {
  const { retryAtMs, delays } = told
  const untoldMs = Math.min(leastDelayMs * 2 ** delays, longestUntoldDelayMs)
  const delayMs = retryAtMs === undefined ? untoldMs : retryAtMs - nowMs
  return nowMs + Math.min(Math.max(delayMs, leastDelayMs), longestDelayMs)
}

/**
 * Renewal at two thirds of the life, and by as much as a twentieth of it earlier, so that not all come at
 * once.
 */
const renewalAt = 2 / 3
const renewalSpread = 1 / 20
/** An authority's wish counts up to here: there has to be time for attempts that fail. */
const latestRenewalAt = 9 / 10
/** Whatever the times of a certificate are, it is not renewed sooner after its installation. */
const leastRestMs = minuteMs

/** `spread` is that of the certificate, `spreadOf`. */
export function renewalAtMs(
  { notBeforeMs, notAfterMs }: Validity,
  { spread, nowMs }: { readonly spread: number; readonly nowMs: number },
): number {
  const share = renewalAt - renewalSpread * spread
  return Math.max(notBeforeMs + Math.floor((notAfterMs - notBeforeMs) * share), nowMs + leastRestMs)
}

/** In the window that the authority named, or at once where that has begun long ago. */
export function advisedAtMs(
  { notBeforeMs, notAfterMs }: Validity,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
  { spread, nowMs }: { readonly spread: number; readonly nowMs: number },
): number {
  const latestMs = notBeforeMs + Math.floor((notAfterMs - notBeforeMs) * latestRenewalAt)
  const wantedMs = startMs + Math.floor((endMs - startMs) * spread)
  return Math.max(Math.min(wantedMs, latestMs), nowMs + leastRestMs)
}

/** About daily: an authority that has to revoke many certificates says so by their windows. */
const soonestQuestionMs = hourMs
const latestQuestionMs = dayMs

export function askAgainAtMs(advice: RenewalAdvice, nowMs: number): number {
  const wantedMs = (advice.askAgainAtMs ?? nowMs + latestQuestionMs) - nowMs
  return nowMs + Math.min(Math.max(wantedMs, soonestQuestionMs), latestQuestionMs)
}

const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193
const hashValues = 2 ** 32

/** The certificate's own place from 0 to below 1, by the FNV-1a hash of its uuid. */
export function spreadOf(uuid: string): number {
  let hash = fnvOffset
  for (const character of uuid) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), fnvPrime)
  return (hash >>> 0) / hashValues
}
