import { setTimeout as delay } from 'node:timers/promises'
import { quantile } from '../load.ts'
import { inMs } from '../report.ts'
import type { Finding } from '../report.ts'
import type { Handshake, HandshakeClient } from './handshake-client.ts'

const limitMs = 60_000

export interface HandshakeTimes {
  readonly fullMs: readonly number[]
  readonly resumedMs: readonly number[]
}

/**
 * Makes handshakes one after another. For each name there is one without a session, and then one that
 * resumes its session.
 */
export async function timeHandshakes(
  client: HandshakeClient,
  names: readonly string[],
): Promise<HandshakeTimes> {
  const fullMs: number[] = []
  const resumedMs: number[] = []
  for (const name of names) {
    const full = await client.shake(name)
    const again = await client.shake(name, full.session)
    if (full.resumed || !again.resumed) throw new Error(`a session of ${name} was not resumed`)
    fullMs.push(full.tookMs)
    resumedMs.push(again.tookMs)
  }
  return { fullMs, resumedMs }
}

export function describeTimes(what: string, { fullMs, resumedMs }: HandshakeTimes): readonly Finding[] {
  return [
    { what: `full handshake, ${what} (${fullMs.length})`, figure: inQuantiles(fullMs) },
    { what: `resumed handshake, ${what} (${resumedMs.length})`, figure: inQuantiles(resumedMs) },
  ]
}

export function inQuantiles(tookMs: readonly number[]): string {
  return `p50 ${inMs(quantile(tookMs, 0.5))}, p99 ${inMs(quantile(tookMs, 0.99))}`
}

/**
 * Resolves with the first handshake that shows the certificate. `shake` resolves to undefined if it fails.
 */
export async function untilShown(
  { name, serialNumber }: { readonly name: string; readonly serialNumber: string },
  shake: (name: string) => Promise<Handshake | undefined>,
  pollMs = 0,
): Promise<void> {
  const deadlineMs = performance.now() + limitMs
  for (;;) {
    const seen = await shake(name)
    if (seen?.serialNumber === serialNumber) return
    if (performance.now() > deadlineMs) throw new Error(`${name} does not show its certificate`)
    await delay(pollMs)
  }
}
