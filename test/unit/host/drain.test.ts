import assert from 'node:assert/strict'
import { drainedAfter } from '../../../src/domain/host/drain.ts'
import type { DrainTold } from '../../../src/domain/host/drain.ts'
import { HostPhase, decideHost, hostPhase } from '../../../src/domain/host/loss.ts'
import type { HostFacts } from '../../../src/domain/host/loss.ts'
import { hostWords } from '../../../src/domain/host/loss-words.ts'

const lostAtMs = Date.parse('2026-01-02T03:05:09Z')

describe('a host that is to be emptied', () => {
  const drainingAtMs = Date.parse('2026-01-02T03:00:00Z')
  const draining: HostFacts = {
    id: 'h2',
    heartbeatAtMs: Date.parse('2026-01-02T03:04:05Z'),
    termMs: 60_000,
    loss: 0,
    lostAtMs: undefined,
    isRemoved: false,
    drainingAtMs,
    unheardMs: 100,
    wasHeard: true,
    moving: 3,
    staying: 1,
    leaving: 0,
    volumes: 1,
    leavingVolumes: 0,
  }
  const decide = (facts: HostFacts, drain?: DrainTold, nowMs = 0) => decideHost(facts, { drain }, nowMs)

  it('has its instances moved, page by page, and those that could not move again after 15 s', () => {
    assert.deepEqual(decide(draining), { kind: 'drain', after: undefined })
    const stuck = [{ name: 'web', why: 'a program runs in it' }]
    const half = drainedAfter(draining, undefined, { moved: 2, stuck, after: 'u', isOver: false, nowMs: 1 })
    assert.deepEqual(decide(draining, half), { kind: 'drain', after: 'u' })
    const round = drainedAfter(draining, half, {
      moved: 1,
      stuck: [],
      after: undefined,
      isOver: true,
      nowMs: 5,
    })
    assert.deepEqual(round, { atMs: drainingAtMs, moved: 3, stuck, stuckAtMs: 5 })
    assert.deepEqual(decide(draining, round, 5), { kind: 'wait', ms: 15_000 })
    assert.deepEqual(decide(draining, round, 15_005), { kind: 'drain', after: undefined })
    const next = drainedAfter(draining, round, {
      moved: 1,
      stuck: [],
      after: undefined,
      isOver: true,
      nowMs: 15_006,
    })
    assert.deepEqual(next, { atMs: drainingAtMs, moved: 4, stuck: [] })
  })

  it('stays in its round while others are still moving', () => {
    const busy = { moved: 0, stuck: [], after: undefined, isOver: false, nowMs: 1 }
    assert.deepEqual(decide(draining, drainedAfter(draining, undefined, busy)), {
      kind: 'drain',
      after: undefined,
    })
    const half = drainedAfter(draining, undefined, { ...busy, moved: 2, after: 'u' })
    assert.deepEqual(drainedAfter(draining, half, { ...busy, after: 'u' }), half)
  })

  it('counts anew if it is drained a second time', () => {
    const before = drainedAfter(draining, undefined, {
      moved: 2,
      stuck: [],
      after: 'u',
      isOver: false,
      nowMs: 1,
    })
    const again = { ...draining, drainingAtMs: drainingAtMs + 1 }
    assert.deepEqual(decide(again, before), { kind: 'drain', after: undefined })
  })

  it('is empty only when nothing is left on it, with a volume or without', () => {
    assert.deepEqual(decide({ ...draining, moving: 0 }), { kind: 'drain', after: undefined })
    assert.deepEqual(decide({ ...draining, moving: 0, staying: 0, leaving: 1 }), { kind: 'wait', ms: 5_000 })
    assert.deepEqual(decide({ ...draining, moving: 0, staying: 0 }), { kind: 'end-drain' })
  })

  it('is drained without a term, too, and neither while it is silent nor once it is lost', () => {
    const unwatched = { ...draining, termMs: undefined, unheardMs: undefined }
    assert.equal(hostPhase(unwatched), HostPhase.Draining)
    assert.equal(hostPhase({ ...draining, unheardMs: 5_000 }), HostPhase.Silent)
    assert.equal(hostPhase({ ...draining, lostAtMs }), HostPhase.Lost)
    assert.equal(hostPhase({ ...draining, drainingAtMs: undefined }), HostPhase.Heard)
  })

  it('is told in plain words', () => {
    const stuck = [{ name: 'web', why: 'a program runs in it' }]
    const drain = drainedAfter(draining, undefined, {
      moved: 2,
      stuck,
      after: undefined,
      isOver: true,
      nowMs: 1,
    })
    assert.equal(
      hostWords(draining, { drain }),
      'being emptied since 2026-01-02T03:00:00.000Z: 2 moved away, 4 to move; web could not move: a program runs in it',
    )
  })
})
