import assert from 'node:assert/strict'
import { nextDueMs } from '../../../src/domain/standby/host-lease.ts'
import type { HostLeaseEvent } from '../../../src/domain/standby/host-lease-state.ts'
import { gatewaysToldMs } from '../../../src/domain/standby/lease-protocol.ts'
import { gateway, kinds, Story } from './host-lease-story.ts'

const drain: HostLeaseEvent = { kind: 'drain', boot: 1 }
const drained: HostLeaseEvent = { kind: 'drained', gateway, boot: 1 }
const holds: HostLeaseEvent = { kind: 'hello', gateway, held: { boot: 1, epoch: 1 } }
const isQuiet: HostLeaseEvent = { kind: 'hello', gateway, share: { memoryBoot: 1, count: 2, limit: 10 } }
const told = [{ kind: 'tell-gateway', gateway, word: 'drain', boot: 1 }]

/** A story of an instance that runs already when its agent starts. */
function taken(): Story {
  const story = new Story().run()
  story.state = { ...story.state, toldFromMs: story.nowMs + gatewaysToldMs }
  return story
}

describe('at a new agent', () => {
  it('a drain is not over before the gateways had time to say what they hold', () => {
    const story = taken()
    assert.deepEqual(kinds(story.tell(drain)), [])
    assert.equal(nextDueMs(story.state), story.nowMs + gatewaysToldMs)
    assert.deepEqual(kinds(story.after(gatewaysToldMs - 1)), [])
    assert.deepEqual(kinds(story.after(1)), ['answer-drain'])
    assert.equal(nextDueMs(story.state), undefined)
  })

  it('a drain waits for a gateway that says in that time that it has something in flight', () => {
    const story = taken()
    story.tell(drain)
    assert.deepEqual(story.tell(holds), told)
    assert.deepEqual(kinds(story.after(gatewaysToldMs)), [])
    assert.equal(nextDueMs(story.state), undefined)
    assert.deepEqual(kinds(story.tell(drained)), ['answer-drain'])
  })

  it('a drain is not over as soon as the first gateway is drained, because others may follow', () => {
    const story = taken()
    story.tell(drain, holds)
    assert.deepEqual(kinds(story.tell(drained)), [])
    assert.deepEqual(kinds(story.after(gatewaysToldMs)), ['answer-drain'])
  })

  it('a drain is told to a gateway that has only quiet connections', () => {
    const story = taken()
    story.tell(drain)
    assert.deepEqual(story.tell(isQuiet), told)
    story.after(gatewaysToldMs)
    assert.deepEqual(kinds(story.tell(drained)), ['answer-drain'])
  })

  it('a gateway that has only quiet connections hears from a new agent that their boot is shut down', () => {
    const story = taken()
    story.tell({ kind: 'stop', boot: 1 })
    assert.deepEqual(story.tell(isQuiet), [{ kind: 'tell-gateway', gateway, word: 'close', boot: 1 }])
  })
})
