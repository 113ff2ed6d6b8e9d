import { longestDelayMs } from '../domain/certificate/schedule.ts'

const digits = /^\d{1,10}$/

/**
 * The time to ask again, from a `Retry-After` header in seconds or with a date (RFC 9110, 10.2.3). It is
 * never in the past, and at most `longestDelayMs` from now. Returns undefined if the header is absent or
 * neither of these.
 */
export function retryAtMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  const atMs = digits.test(text) ? nowMs + Number(text) * 1_000 : Date.parse(text)
  return Number.isNaN(atMs) ? undefined : Math.min(Math.max(atMs, nowMs), nowMs + longestDelayMs)
}
