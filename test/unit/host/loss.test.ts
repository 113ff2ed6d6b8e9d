import assert from 'node:assert/strict'
import { HostPhase, decideHost, hostPhase, toldAfter } from '../../../src/domain/host/loss.ts'
import type { HostFacts, LossTold } from '../../../src/domain/host/loss.ts'
import { hostWords, removalWords } from '../../../src/domain/host/loss-words.ts'
import { lostAfterMs, toldTermMs } from '../../../src/domain/host/term.ts'

const heartbeatAtMs = Date.parse('2026-01-02T03:04:05Z')
const lostAtMs = Date.parse('2026-01-02T03:05:09Z')
const termMs = 60_000
const counts = { moving: 0, staying: 0, leaving: 0, volumes: 0, leavingVolumes: 0 }
const silent: HostFacts = {
  ...counts,
  id: 'h2',
  heartbeatAtMs,
  termMs,
  loss: 0,
  lostAtMs: undefined,
  isRemoved: false,
  drainingAtMs: undefined,
  unheardMs: 20_000,
  wasHeard: true,
}
const lost: HostFacts = {
  ...silent,
  loss: 1,
  lostAtMs,
  unheardMs: 70_000,
  moving: 12,
  staying: 2,
  volumes: 2,
}
const removed: HostFacts = { ...lost, isRemoved: true, moving: 0, staying: 0, volumes: 0 }
const allTold: LossTold = { loss: 1, moving: 12, atMs: 0, allAtMs: 0 }
const decided = (facts: HostFacts, told?: LossTold, nowMs = 0) => decideHost(facts, { told }, nowMs)

describe('what follows when a host is not heard', () => {
  it('is nothing if it is heard, or has no term', () => {
    for (const heard of [
      { ...silent, unheardMs: 4_999 },
      { ...silent, termMs: undefined },
      { ...silent, termMs: undefined, unheardMs: undefined },
    ]) {
      assert.equal(hostPhase(heard), HostPhase.Heard)
      assert.deepEqual(decided(heard), { kind: 'over' })
    }
  })

  it('waits for at most 5 s at a time until term and margin are over, and not a millisecond less', () => {
    assert.deepEqual(decided(silent), { kind: 'wait', ms: 5_000 })
    const endMs = lostAfterMs(termMs)
    assert.deepEqual(decided({ ...silent, unheardMs: endMs - 1 }), { kind: 'wait', ms: 1 })
    assert.deepEqual(decided({ ...silent, unheardMs: endMs }), { kind: 'declare' })
    assert.deepEqual(decided({ ...silent, termMs: 10_000, unheardMs: 13_999 }), { kind: 'wait', ms: 1 })
    // Over a day, clocks differ by more than over a minute.
    assert.ok(lostAfterMs(86_400_000) - 86_400_000 > 2 * 86_400)
  })

  it('waits if the watch can not say for how long, and does not take a young count for a heartbeat', () => {
    assert.deepEqual(decided({ ...silent, unheardMs: undefined, wasHeard: false }), {
      kind: 'wait',
      ms: 1_000,
    })
    assert.equal(hostPhase({ ...silent, unheardMs: 100, wasHeard: false }), HostPhase.Silent)
  })

  it('tells all instances after a loss, page by page', () => {
    assert.deepEqual(decided(lost), { kind: 'tell', round: { isOfAll: true } })
    assert.deepEqual(decided(lost, { ...allTold, loss: 0 }), { kind: 'tell', round: { isOfAll: true } })
    const cursor = { rank: 1, uuid: 'u' }
    const half = toldAfter(lost, undefined, { isOfAll: true, after: cursor, nowMs: 7 })
    assert.deepEqual(half, { loss: 1, moving: 12, round: { isOfAll: true, after: cursor } })
    assert.deepEqual(decided(lost, half), { kind: 'tell', round: { isOfAll: true, after: cursor } })
    const less = { ...lost, moving: 5 }
    assert.deepEqual(toldAfter(less, half, { isOfAll: true, after: undefined, nowMs: 8 }), {
      loss: 1,
      moving: 12,
      atMs: 8,
      allAtMs: 8,
    })
  })

  it('tells those again every 30 s that have to begin elsewhere, and all every 10 minutes', () => {
    assert.deepEqual(decided(lost, allTold, 29_999), { kind: 'wait', ms: 1_000 })
    assert.deepEqual(decided(lost, allTold, 30_000), { kind: 'tell', round: { isOfAll: false } })
    const some = toldAfter(lost, allTold, { isOfAll: false, after: undefined, nowMs: 30_000 })
    assert.deepEqual(some, { ...allTold, atMs: 30_000 })
    const stays = { ...lost, moving: 0 }
    assert.deepEqual(decided(stays, allTold, 599_999), { kind: 'wait', ms: 30_000 })
    assert.deepEqual(decided(stays, allTold, 600_000), { kind: 'tell', round: { isOfAll: true } })
  })

  it('waits for a lost host with nothing on it, and ends when it has cleared up', () => {
    assert.deepEqual(decided({ ...lost, ...counts }), { kind: 'wait', ms: 30_000 })
    const back = { ...lost, lostAtMs: undefined, unheardMs: 0 }
    assert.deepEqual(decided(back, allTold), { kind: 'over' })
  })

  it('forgets a removed host once nothing is on it and its VMs must have ended', () => {
    assert.deepEqual(decided(removed), { kind: 'forget' })
    assert.deepEqual(decided({ ...removed, unheardMs: 63_999 }), { kind: 'wait', ms: 2_000 })
    assert.deepEqual(decided({ ...removed, unheardMs: undefined }), { kind: 'wait', ms: 2_000 })
    assert.deepEqual(decided({ ...removed, termMs: undefined, unheardMs: 23_999 }), {
      kind: 'wait',
      ms: 2_000,
    })
    assert.deepEqual(decided({ ...removed, termMs: undefined, unheardMs: 24_000 }), { kind: 'forget' })
    for (const left of [{ staying: 1 }, { volumes: 1 }] as const)
      assert.deepEqual(decided({ ...removed, ...left }, allTold), { kind: 'wait', ms: 30_000 })
    assert.deepEqual(decided({ ...removed, moving: 1 }, allTold), { kind: 'wait', ms: 1_000 })
    for (const left of [{ leaving: 1 }, { leavingVolumes: 1, volumes: 1 }] as const)
      assert.deepEqual(decided({ ...removed, ...left }, allTold), { kind: 'wait', ms: 2_000, cleans: true })
  })

  it('is told in plain words', () => {
    assert.equal(
      hostWords(silent, {}),
      'not heard since 2026-01-02T03:04:05.000Z; it counts as lost in 44 s unless it is heard',
    )
    assert.match(hostWords({ ...silent, unheardMs: undefined }, {}), /its term is counted anew/)
    assert.equal(
      hostWords({ ...lost, moving: 9 }, { told: allTold }),
      'lost at 2026-01-02T03:05:09.000Z: 12 instances begin on other hosts, 3 so far; 2 wait for it because their volumes are there',
    )
    assert.equal(
      hostWords({ ...removed, staying: 1 }, {}),
      'lost at 2026-01-02T03:05:09.000Z: 1 waits for it because its volume is there; it is removed, and its row goes once nothing is on it',
    )
    assert.equal(
      removalWords({ id: 'h2', moving: 12, staying: 1, volumes: 2, termMs }),
      'h2 is lost for good and locked out: 12 instances begin on other hosts; 1 waits until deleted, because its volume is lost with it; ' +
        '2 volumes are lost. If the machine still runs, switch it off: its VMs end within 60 s at the latest.',
    )
    assert.match(
      removalWords({ id: 'h2', moving: 0, staying: 0, volumes: 0, termMs: undefined }),
      /: no instance begins elsewhere\. If .*: its VMs do not end by themselves\.$/,
    )
  })

  it('needs a term, which the setting gives if other machines can join', () => {
    const hostsAddress = { host: '192.0.2.1', port: 7075 }
    assert.equal(toldTermMs({ hostLossS: undefined, hostsAddress }), 60_000)
    assert.equal(toldTermMs({ hostLossS: undefined }), undefined)
    assert.equal(toldTermMs({ hostLossS: 'off', hostsAddress }), undefined)
    assert.equal(toldTermMs({ hostLossS: 10 }), 10_000)
  })
})
