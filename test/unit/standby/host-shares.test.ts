import assert from 'node:assert/strict'
import { nextDueMs } from '../../../src/domain/standby/host-lease.ts'
import type { HostLeaseEffect, HostLeaseEvent } from '../../../src/domain/standby/host-lease-state.ts'
import {
  closedShareMs,
  leaseKeptMs,
  shareWaitMs,
  gatewaysToldMs,
} from '../../../src/domain/standby/lease-protocol.ts'
import { Story } from './host-lease-story.ts'

const limit = 10
const opens = (gateway: string, epoch = 1): HostLeaseEvent => ({
  kind: 'open',
  gateway,
  epoch,
  ports: [80],
  limit,
})
const wants = (gateway: string, count = 1): HostLeaseEvent => ({
  kind: 'want',
  gateway,
  memoryBoot: 1,
  count,
  limit,
})
const gives = (gateway: string, count: number): HostLeaseEvent => ({
  kind: 'gave',
  gateway,
  memoryBoot: 1,
  count,
})
const told = (effects: readonly HostLeaseEffect[]): readonly string[] =>
  effects.flatMap((effect) => {
    if (effect.kind === 'opened') return [`${effect.gateway} opened ${effect.share ?? 'alone'}`]
    return effect.kind === 'share' || effect.kind === 'spare'
      ? [`${effect.gateway} ${effect.kind} ${effect.count}`]
      : []
  })

describe('the shares of a hard limit', () => {
  it('go to the only gateway as a whole, which then asks for nothing', () => {
    const story = new Story().run()
    assert.deepEqual(told(story.tell(opens('a'))), ['a opened 10'])
  })

  it('a gateway that tells no limit gets none, and counts alone', () => {
    const story = new Story().run()
    assert.deepEqual(told(story.tell({ kind: 'open', gateway: 'a', epoch: 1, ports: [] })), [
      'a opened alone',
    ])
  })

  it('pass to a second gateway as far as the first does not use them', () => {
    const story = new Story().run()
    assert.deepEqual(told(story.tell(opens('a'), opens('b'))), ['a opened 10', 'b opened 0'])
    assert.deepEqual(told(story.tell(wants('b'))), ['a spare 1'])
    // The host leaves a half of what is free to others, so that not every request has to ask.
    assert.deepEqual(told(story.tell(gives('a', 5))), ['b share 3'])
    assert.deepEqual(told(story.tell(wants('a', 2))), ['a share 2'])
  })

  it('are refused only when every other gateway has said that it can spare nothing', () => {
    const story = new Story().run()
    story.tell(opens('a'), opens('b'), wants('b'), gives('a', 5), opens('c'))
    story.tell(wants('a', 5), gives('b', 0))
    const asked = told(story.tell(wants('c')))
    assert.deepEqual(asked.toSorted(), ['a spare 1', 'b spare 1'].toSorted())
    assert.deepEqual(told(story.tell(gives('a', 0))), [])
    assert.deepEqual(told(story.tell(gives('b', 0))), ['c share 0'])
  })

  it('are refused after a while if another gateway does not answer', () => {
    const story = new Story().run()
    story.tell(opens('a'), opens('b'), wants('b'))
    assert.equal(nextDueMs(story.state), story.nowMs + shareWaitMs)
    assert.deepEqual(told(story.after(shareWaitMs)), ['b share 0'])
    // What it gives later is for the next that asks.
    assert.deepEqual(told(story.tell(gives('a', 5), wants('b'))), ['b share 3'])
  })

  it('of a lost gateway stay for as long as its lease is kept', () => {
    const story = new Story().run()
    story.tell(opens('a'), opens('b'))
    story.tell({ kind: 'lost', gateway: 'a', keptUntilMs: story.nowMs + leaseKeptMs })
    assert.deepEqual(told(story.tell(wants('b'))), ['b share 0'])
    assert.deepEqual(told(story.after(leaseKeptMs, wants('b'))), ['b share 10'])
  })

  it('of a gateway that closed its connection are free after a moment, for which others wait', () => {
    const story = new Story().run()
    story.tell(opens('a'), opens('b'))
    story.tell({ kind: 'lost', gateway: 'a', keptUntilMs: story.nowMs + leaseKeptMs, closed: true })
    assert.deepEqual(told(story.after(100, wants('b'))), [])
    assert.equal(nextDueMs(story.state), story.nowMs - 100 + closedShareMs)
    assert.deepEqual(told(story.after(closedShareMs - 100)), ['b share 10'])
  })

  it('of a gateway that comes back are what it says', () => {
    const story = new Story().run()
    story.tell(opens('a'), { kind: 'lost', gateway: 'a', keptUntilMs: story.nowMs + leaseKeptMs })
    const held = { boot: 1, epoch: 1 }
    story.tell({ kind: 'hello', gateway: 'a', held, share: { memoryBoot: 1, count: 4, limit } })
    assert.deepEqual(told(story.tell(opens('b'))), ['b opened 3'])
  })

  it('come back with the lease, but for what quiet connections need', () => {
    const story = new Story().run()
    story.tell(opens('a'))
    const gave = { memoryBoot: 1, count: 8 }
    story.tell({ kind: 'returned', gateway: 'a', epoch: 1, quietMs: 0, gave })
    assert.deepEqual(told(story.tell(opens('b'))), ['b opened 8'])
  })

  it('end with the memory: what is given back of an earlier one counts no more', () => {
    const story = new Story().run()
    story.tell(opens('a'), { kind: 'exited', boot: 1 })
    story.run(2)
    assert.deepEqual(told(story.tell(opens('a', 2))), ['a opened 10'])
    story.tell(gives('a', 10))
    assert.deepEqual(told(story.tell(opens('b'))), ['b opened 0'])
  })

  it('wait at a new agent until the gateways had time to tell what they have', () => {
    const story = new Story().run()
    story.state = { ...story.state, toldFromMs: story.nowMs + gatewaysToldMs }
    assert.deepEqual(told(story.tell(opens('a'), wants('a'))), ['a opened 0'])
    const held = { boot: 1, epoch: 1 }
    story.tell({ kind: 'hello', gateway: 'b', held, share: { memoryBoot: 1, count: 6, limit } })
    assert.deepEqual(told(story.after(gatewaysToldMs)), ['a share 2'])
  })

  it('follow a change of the hard limit', () => {
    const story = new Story().run()
    story.tell(opens('a'))
    const raised = { kind: 'want', gateway: 'a', memoryBoot: 1, count: 1, limit: 12 } as const
    assert.deepEqual(told(story.tell(raised)), ['a share 2'])
  })
})
