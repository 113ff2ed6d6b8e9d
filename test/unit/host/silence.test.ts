import assert from 'node:assert/strict'
import {
  HostSilence,
  heardNow,
  missed,
  nextTrouble,
  reached,
  refused,
  servedWithoutAgentMs,
  silenceOf,
  silentHostAwayMs,
  unreachableAfterMs,
} from '../../../src/domain/host/silence.ts'
import type { HostSigns } from '../../../src/domain/host/silence.ts'
import { hostAwayAfterMs, leaseKeptMs, leaseValidMs } from '../../../src/domain/standby/lease-protocol.ts'

const { None, Down, Silent, Away, Unreachable } = HostSilence

/** The signs of a host that has refused one connection every second, from `fromMs` until `untilMs`. */
function refusedUntil(untilMs: number, from: HostSigns = heardNow(0), fromMs = 1_000): HostSigns {
  let signs = from
  for (let nowMs = fromMs; nowMs <= untilMs; nowMs += 1_000) signs = refused(signs, nowMs)
  return signs
}

describe('the silence of a host', () => {
  it('ends leases when they run out, and the wait of new traffic 2 s later', () => {
    const signs = heardNow(0)
    const timeline = [0, leaseValidMs - 1, leaseValidMs, silentHostAwayMs - 1, silentHostAwayMs, 3_600_000]
    assert.deepEqual(
      timeline.map((nowMs) => silenceOf(signs, nowMs)),
      [None, None, Silent, Silent, Away, Away],
    )
  })

  it('is only `down` while its agent’s port refuses, and turns new traffic away no sooner than other silence', () => {
    assert.equal(silenceOf(refusedUntil(19_000), 19_500), None)
    assert.equal(silenceOf(refusedUntil(21_000), hostAwayAfterMs + 1_000), Down)
    assert.equal(silenceOf(refusedUntil(300_000), 301_000), Down)
  })

  it('is `away` when the agent’s port has refused for some minutes', () => {
    const signs = refusedUntil(servedWithoutAgentMs + 60_000)
    assert.equal(silenceOf(signs, servedWithoutAgentMs - 1), Down)
    assert.equal(silenceOf(signs, servedWithoutAgentMs), Away)
  })

  it('begins with a gap between two refusals that is as long as a lease', () => {
    const gap = refused(refusedUntil(10_000), 10_000 + leaseValidMs)
    assert.equal(silenceOf(gap, 10_000 + leaseValidMs), Silent)
    assert.equal(silenceOf(refusedUntil(60_000, gap, 16_000), 60_500), Away, 'refusals after it mend nothing')
    assert(leaseValidMs < leaseKeptMs, 'an agent that lived in a gap has nothing sent to standby')
  })

  it('is `unreachable` if no attempt reached the machine, but not if the machine accepts and then hangs', () => {
    const signs = missed(heardNow(0))
    assert.equal(silenceOf(signs, unreachableAfterMs - 1), Away)
    assert.equal(silenceOf(signs, unreachableAfterMs), Unreachable)
    const hangs = reached(signs, 9_000)
    assert.equal(silenceOf(hangs, 60_000), Away)
    assert.equal(silenceOf(missed(hangs), 60_000), Unreachable)
    assert.equal(silenceOf(heardNow(60_000), 60_000), None)
  })

  it('is reported step by step, even if the looks left steps out', () => {
    const said = (told: HostSilence, now: HostSilence) => nextTrouble(told, now)
    assert.deepEqual(
      [said(None, Unreachable), said(Silent, Unreachable), said(Away, Unreachable)],
      [Silent, Away, Unreachable],
    )
    assert.deepEqual(
      [said(None, None), said(Away, Silent), said(Unreachable, Away)],
      [undefined, undefined, undefined],
    )
    assert.deepEqual(
      [said(None, Down), said(Down, Down), said(Down, Away), said(Silent, Down)],
      [Down, undefined, Silent, undefined],
    )
  })
})
