import assert from 'node:assert/strict'
import { LeasePhase } from '../../../src/domain/standby/host-lease-phase.ts'
import type { HostLeaseEvent } from '../../../src/domain/standby/host-lease-state.ts'
import { leaseKeptMs } from '../../../src/domain/standby/lease-protocol.ts'
import { StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import { gateway, kinds, open, order, settings, Story } from './host-lease-story.ts'

const drainMs = 2_000
const asked = { ...order, epoch: 9, stateful: true, drainMs }
const suspend: HostLeaseEvent = { kind: 'stand-by', ...asked }
const returned = (epoch: number): HostLeaseEvent => ({ kind: 'returned', gateway, epoch, quietMs: 0 })
const refusals = (story: Story) =>
  story.effects.flatMap((effect) => (effect.kind === 'answer-stand-by' ? [effect.refused] : []))

/** An instance that another gateway has woken and left, after a patient one was lost. */
function lostPatiently(how: { readonly closed?: boolean }): Story {
  const story = new Story().run()
  story.tell(open(1), suspend, returned(1), { ...open(2), patient: true } as HostLeaseEvent)
  story.tell({ kind: 'slept', boot: 1, memoryKept: true })
  story.tell({ kind: 'lost', gateway, keptUntilMs: story.nowMs + leaseKeptMs, ...how })
  const other = { ...open(1), gateway: 'h' } as HostLeaseEvent
  assert.deepEqual(kinds(story.tell(other)), ['wake'])
  story.tell({ kind: 'started', boot: 2, start: StartKind.Restore, settings, listens: true })
  story.tell({ ...returned(1), gateway: 'h' } as HostLeaseEvent)
  return story
}

describe('standby that a user asked for, at its host', () => {
  it('begins at once if no gateway holds a lease, without an idle period and without scale-to-zero', () => {
    const off = { ...settings, policy: 'off' } as const
    const story = new Story().run(1, { settings: off })
    assert.deepEqual(story.tell(suspend), [{ kind: 'sleep', order: asked }])
    assert.equal(story.state.phase, LeasePhase.StandingBy)
  })

  it('asks for the leases, and begins when the last of them is back', () => {
    const story = new Story().run()
    story.tell(open(1), { ...open(1), gateway: 'h' } as HostLeaseEvent)
    assert.deepEqual(
      story.tell(suspend).filter(({ kind }) => kind === 'tell-rest'),
      ['g', 'h'].map((name) => ({ kind: 'tell-rest', gateway: name, boot: 1, withinMs: drainMs })),
    )
    assert.deepEqual(kinds(story.tell(returned(1))), [])
    assert.deepEqual(kinds(story.tell({ ...returned(1), gateway: 'h' } as HostLeaseEvent)), ['sleep'])
  })

  it('what comes meanwhile waits, and wakes it', () => {
    const story = new Story().run()
    story.tell(open(1), suspend, returned(1), open(2))
    assert.equal(story.state.phase, LeasePhase.StandingBy)
    const woken = story.tell({ kind: 'slept', boot: 1, memoryKept: true })
    assert.deepEqual(kinds(woken), ['answer-stand-by', 'wake'])
    const started = { kind: 'started', boot: 2, start: StartKind.Restore, settings, listens: true } as const
    assert.deepEqual(kinds(story.tell(started)), ['opened'])
  })

  it('a gateway that asks again before it gave its lease back still holds it', () => {
    const story = new Story().run()
    story.tell(open(1), suspend)
    assert.deepEqual(kinds(story.tell(open(2))), [])
    assert.deepEqual(kinds(story.tell(returned(1))), ['sleep'])
    assert.equal(story.state.leases[0]?.status, 'waiting')
  })

  it('a patient gateway that is lost keeps the instance awake after a wake by others, until it is given up', () => {
    const story = lostPatiently({})
    assert.equal(story.isIdle, false)
    story.after(leaseKeptMs - 1)
    assert.equal(story.isIdle, false)
    story.after(1)
    assert.equal(story.isIdle, true)
  })

  it('a patient gateway that has closed its connection keeps nothing awake', () => {
    const story = lostPatiently({ closed: true })
    assert.equal(story.isIdle, true)
  })

  it('a patient gateway wakes nothing, is let in after a wake by others, and hears of no wake that failed', () => {
    const story = new Story().run()
    story.tell(open(1), suspend, returned(1), { ...open(2), patient: true } as HostLeaseEvent)
    story.tell({ kind: 'slept', boot: 1, memoryKept: true })
    assert.equal(story.state.phase, LeasePhase.Asleep)
    const failure = { kind: 'start-failed', boot: 2, failure: 'HostFull', message: 'full' } as const
    story.tell({ kind: 'start', boot: 2 }, failure)
    const others = story.tell({ ...open(1), gateway: 'h' } as HostLeaseEvent)
    assert.deepEqual(
      others.map((effect) => ('gateway' in effect ? [effect.kind, effect.gateway] : [])),
      [['refused', 'h']],
    )
    story.tell({ kind: 'start', boot: 2 })
    const up = { kind: 'started', boot: 2, start: StartKind.Restore, settings, listens: true } as const
    assert.deepEqual(kinds(story.tell(up)), ['opened'])
    assert.equal(story.state.leases.find((lease) => lease.gateway === gateway)?.patient, undefined)
  })

  it('a gateway that does not give its lease back keeps it awake, and is told so', () => {
    const story = new Story().run()
    story.tell(open(1), suspend)
    story.after(drainMs + leaseKeptMs - 1)
    assert.deepEqual(refusals(story), [])
    assert.deepEqual(kinds(story.after(1)), ['answer-stand-by', 'tell-gateway'])
    assert.deepEqual([story.state.phase, refusals(story)], [LeasePhase.Running, [StandByRefusal.Busy]])
  })

  it('the lease of a lost gateway is waited for as long as it is kept', () => {
    const story = new Story().run()
    story.tell(open(1), suspend, { kind: 'lost', gateway, keptUntilMs: story.nowMs + 5_000 })
    assert.deepEqual(kinds(story.after(4_999)), [])
    assert.deepEqual(kinds(story.after(1)), ['sleep'])
  })

  it('a gateway that comes back with its lease is asked for it again', () => {
    const story = new Story().run()
    story.tell(open(1), suspend, { kind: 'lost', gateway, keptUntilMs: story.nowMs + 5_000 })
    const told = story.after(500, { kind: 'hello', gateway, held: { boot: 1, epoch: 1 } })
    assert.deepEqual(told, [{ kind: 'tell-rest', gateway, boot: 1, withinMs: drainMs - 500 }])
    assert.deepEqual(kinds(story.tell(returned(1))), ['sleep'])
  })

  it('a new agent waits until its gateways have said what they hold', () => {
    const story = new Story().run()
    story.state = { ...story.state, unsureUntilMs: story.nowMs + 3_000 }
    assert.deepEqual(kinds(story.tell(suspend)), [])
    assert.deepEqual(kinds(story.after(3_000)), ['sleep'])
  })

  it('is refused if the application asks for no standby, if programs run in it, and if another boot runs', () => {
    const refused = (story: Story, event: HostLeaseEvent = suspend) => {
      story.tell(event)
      return refusals(story)
    }
    const disabled = new Story().run()
    disabled.tell({ kind: 'disabled', boot: 1, disabled: true })
    assert.deepEqual(refused(disabled), [StandByRefusal.Disabled])
    const busy = new Story().run()
    busy.tell({ ...open(1), gateway: 'exec-1' } as HostLeaseEvent)
    assert.deepEqual(refused(busy), [StandByRefusal.Programs])
    assert.deepEqual(refused(new Story().run(2)), [StandByRefusal.NotRunning])
  })

  it('a stop overtakes it while leases are held', () => {
    const story = new Story().run()
    story.tell(open(1), suspend, { kind: 'stop', boot: 2 })
    assert.equal(story.state.phase, LeasePhase.Stopping)
    assert.deepEqual(kinds(story.after(60_000)), [])
    story.tell({ kind: 'stopped', boot: 2 })
    assert.deepEqual(refusals(story), [StandByRefusal.NotRunning])
  })
})
