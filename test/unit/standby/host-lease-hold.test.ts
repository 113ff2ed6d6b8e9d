import assert from 'node:assert/strict'
import { LeasePhase } from '../../../src/domain/standby/host-lease-phase.ts'
import { nextDueMs } from '../../../src/domain/standby/host-lease.ts'
import type { HostLeaseEvent } from '../../../src/domain/standby/host-lease-state.ts'
import { failed, gateway, kinds, open, order, Story } from './host-lease-story.ts'

const hold = { nodeId: 'new', address: '10.64.16.1' }
const patient = { ...open(2), gateway: 'patient', patient: true } as HostLeaseEvent

describe('an instance that is held, because it moves', () => {
  it('an order with a hold leads to it at once, so that nothing wakes it in between', () => {
    const story = new Story().run()
    story.tell({ kind: 'stand-by', ...order, epoch: 7, stateful: true, drainMs: 0, hold }, open(1))
    const effects = story.tell({ kind: 'slept', boot: 1, memoryKept: true })
    assert.deepEqual(kinds(effects), ['answer-stand-by'])
    assert.deepEqual([story.state.phase, story.state.permit], [LeasePhase.Held, 2])
  })

  it('those who wait are let in after its release, whether they wake it or wait for a wake', () => {
    const story = new Story().run().sleep()
    story.tell({ kind: 'hold' })
    assert.deepEqual(story.after(60_000, open(1), patient), [])
    assert.equal(nextDueMs(story.state), undefined)
    assert.deepEqual(story.tell({ kind: 'release' }), [{ kind: 'wake', boot: 2 }])
    story.run(2)
    const opened = story.effects.filter(({ kind }) => kind === 'opened')
    assert.equal(opened.length, 2)
  })

  it('nobody is asked to wake it who only waits for a wake', () => {
    const story = new Story().run().sleep()
    story.tell({ kind: 'hold' }, patient)
    assert.deepEqual(story.tell({ kind: 'release' }), [])
    assert.equal(story.state.phase, LeasePhase.Asleep)
  })

  it('a packet of a peer is remembered until its release', () => {
    const story = new Story().run().sleep()
    story.tell({ kind: 'hold' })
    assert.deepEqual(story.tell({ kind: 'peers' }), [])
    assert.deepEqual(story.tell({ kind: 'release' }), [{ kind: 'wake', boot: 2 }])
  })

  it('the back-off of a failed wake goes on after its release', () => {
    const story = new Story().run().sleep()
    story.tell(open(1), { ...failed, boot: 2 }, { kind: 'hold' })
    assert.deepEqual(kinds(story.tell(open(2))), [])
    assert.deepEqual(kinds(story.tell({ kind: 'release' })), ['refused'])
  })

  it('the workflow starts it by its permit, and lets those in who waited', () => {
    const story = new Story().run().sleep()
    story.tell({ kind: 'hold' }, open(1), { kind: 'start', boot: 2 })
    assert.equal(story.state.phase, LeasePhase.Waking)
    story.tell({ ...failed, boot: 2 })
    assert.equal(story.state.phase, LeasePhase.Asleep)
  })

  it('when it has moved, its gateways hear nothing, and a new host lease begins', () => {
    const story = new Story().run()
    story.tell(open(1), { kind: 'returned', gateway, epoch: 1, quietMs: 0 })
    story.sleep({ stateful: true }).tell({ kind: 'hold' }, { ...open(2), gateway: 'other' } as HostLeaseEvent)
    assert.deepEqual(story.tell({ kind: 'moved' }), [])
    assert.deepEqual([story.state.phase, story.state.leases], [LeasePhase.None, []])
  })
})
