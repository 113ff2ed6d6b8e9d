import assert from 'node:assert/strict'
import fc from 'fast-check'
import { nextDueMs } from '../../../src/domain/standby/host-lease.ts'
import { LeasePhase } from '../../../src/domain/standby/host-lease-phase.ts'
import type {
  HostLeaseEffect,
  HostLeaseEvent,
  HostLeaseState,
} from '../../../src/domain/standby/host-lease-state.ts'
import { HostFailure, StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import { Story } from './host-lease-story.ts'

const boot = fc.integer({ min: 0, max: 4 })
/** The number of a boot that began. Boot 0 means that there was none. */
const begun = fc.integer({ min: 1, max: 4 })
const epoch = fc.integer({ min: 1, max: 5 })
const gateway = fc.constantFrom('a', 'b')
const yesOrNo = fc.boolean()
const limit = fc.integer({ min: 1, max: 4 })
const of = <T extends object>(kind: HostLeaseEvent['kind'], fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record({ kind: fc.constant(kind), ...fields }) as fc.Arbitrary<HostLeaseEvent>

const settings = fc.record({
  policy: fc.constantFrom('off', 'on', 'idle'),
  cooldownMs: fc.constantFrom(0, 1_000),
  stateful: yesOrNo,
})
const event = fc.oneof(
  of('open', { gateway, epoch, ports: fc.constant([80]) }),
  of('open', { gateway, epoch, ports: fc.constant([80]), limit }),
  of('open', { gateway, epoch, ports: fc.constant([80]), patient: fc.constant(true) }),
  of('withdraw', { gateway, epoch }),
  of('returned', { gateway, epoch, quietMs: fc.integer({ min: 0, max: 2_000 }) }),
  of('hello', { gateway }),
  of('hello', {
    gateway,
    share: fc.record({ memoryBoot: boot, count: fc.integer({ min: 0, max: 2 }), limit }),
  }),
  of('want', { gateway, memoryBoot: boot, count: limit, limit }),
  of('gave', { gateway, memoryBoot: boot, count: fc.integer({ min: 0, max: 4 }) }),
  of('hello', { gateway, held: fc.record({ boot, epoch }) }),
  of('lost', { gateway, keptUntilMs: fc.integer({ min: 100_000, max: 140_000 }) }),
  of('drained', { gateway, boot }),
  of('disabled', { boot, disabled: yesOrNo }),
  of('peers', {}),
  of('stand-by', {
    boot,
    epoch: fc.constant(0),
    permit: boot,
    stateful: yesOrNo,
    graceMs: fc.constant(1),
  }),
  of('stand-by', {
    boot,
    epoch: fc.constant(3),
    permit: boot,
    stateful: fc.constant(true),
    graceMs: fc.constant(1),
    drainMs: fc.constantFrom(0, 1_000),
  }),
  of('stand-by', {
    boot,
    epoch: fc.constant(3),
    permit: boot,
    stateful: fc.constant(true),
    graceMs: fc.constant(1),
    drainMs: fc.constant(0),
    hold: fc.constant({ nodeId: 'new', address: '10.64.16.1' }),
  }),
  of('drain', { boot }),
  of('drain-cancelled', { boot }),
  of('stop', { boot }),
  of('remove', {}),
  of('hold', {}),
  of('release', {}),
  of('moved', {}),
  of('start', { boot }),
  of('started', {
    boot: begun,
    start: fc.constantFrom(...Object.values(StartKind)),
    settings,
    listens: yesOrNo,
  }),
  of('start-failed', { boot, failure: fc.constant(HostFailure.BootFailed), message: fc.constant('no') }),
  of('listened', { boot }),
  of('slept', { boot, memoryKept: yesOrNo }),
  of('stayed-awake', { boot, reason: fc.constantFrom(...Object.values(StandByRefusal)) }),
  of('exited', { boot }),
  of('stopped', { boot }),
  of('tick', {}),
)
const timeline = fc.array(fc.tuple(fc.integer({ min: 0, max: 6_000 }), event), { maxLength: 60 })

/** An order to stand by has the number of the idle period that the workflow was told of. */
function asTold(asked: HostLeaseEvent, { idle }: HostLeaseState): HostLeaseEvent {
  return asked.kind === 'stand-by' && asked.boot > 0
    ? { ...asked, epoch: idle?.epoch ?? 0, permit: asked.boot + 1 }
    : asked
}

function play(
  steps: readonly (readonly [number, HostLeaseEvent])[],
  check: (
    story: Story,
    effects: readonly HostLeaseEffect[],
    event: HostLeaseEvent,
    before: HostLeaseState,
  ) => void,
): void {
  const story = new Story()
  for (const [ms, each] of steps) {
    const before = story.state
    const told = asTold(each, before)
    check(story, story.after(ms, told), told, before)
  }
}

describe('whatever happens to an instance, in whatever order', () => {
  const holds = (check: Parameters<typeof play>[1]): void => {
    fc.assert(
      fc.property(timeline, (steps) => {
        play(steps, check)
      }),
      { numRuns: 2_000 },
    )
  }

  it('a gateway is let in only to a VM that runs, and holds a lease then', () => {
    holds((story, effects) => {
      for (const effect of effects) {
        if (effect.kind !== 'opened') continue
        assert.deepEqual([story.state.phase, effect.boot], [LeasePhase.Running, story.state.boot])
        const lease = story.state.leases.find((each) => each.gateway === effect.gateway)
        assert.deepEqual([lease?.status, lease?.epoch], ['held', effect.epoch])
      }
    })
  })

  it('a gateway waits only while the instance starts, wakes, goes to standby or is held', () => {
    const coming: readonly LeasePhase[] = [
      LeasePhase.Starting,
      LeasePhase.StandingBy,
      LeasePhase.Held,
      LeasePhase.Waking,
    ]
    holds(({ state }) => {
      const waiting = state.leases.filter(({ status }) => status === 'waiting')
      const may = waiting.every(({ patient }) => patient === true) ? [...coming, LeasePhase.Asleep] : coming
      assert.ok(waiting.length === 0 || may.includes(state.phase), state.phase)
    })
  })

  it('the instance is sent to standby only if no gateway holds a lease, or wants one for which nobody waits', () => {
    holds(({ state }, effects, __, before) => {
      const sleep = effects.find((effect) => effect.kind === 'sleep')
      if (sleep === undefined || sleep.order.boot === 0) return
      const held = state.leases.filter(
        ({ status, heldEpoch }) => status === 'held' || heldEpoch !== undefined,
      )
      assert.deepEqual(held, [])
      if (sleep.order.drainMs !== undefined) return
      assert.ok(state.leases.every(({ status, patient }) => status === 'returned' || patient === true))
      assert.equal(before.disabled, false)
    })
  })

  it('standby that a user asked for begins, or is answered, within the time that all gateways have', () => {
    let began = 0
    holds(({ state, nowMs }, effects) => {
      if (effects.some((effect) => effect.kind === 'sleep' && effect.order.drainMs !== undefined)) began += 1
      const { restUntilMs, phase, order } = state
      if (restUntilMs === undefined) return
      assert.deepEqual([phase, order?.drainMs !== undefined], [LeasePhase.StandingBy, true])
      assert.ok(restUntilMs > nowMs || nextDueMs(state) !== undefined)
      assert.ok((nextDueMs(state) ?? Infinity) <= restUntilMs)
    })
    assert.ok(began > 0, 'no life came to standby')
  })

  it('a permit is there exactly while it sleeps or wakes, and used by nothing but a wake', () => {
    holds(({ state }, effects, __, before) => {
      const mayHave: readonly LeasePhase[] = [
        LeasePhase.Asleep,
        LeasePhase.Held,
        LeasePhase.Waking,
        LeasePhase.Stopping,
      ]
      assert.ok(state.permit === undefined || mayHave.includes(state.phase), state.phase)
      if (state.phase !== LeasePhase.Stopping && mayHave.includes(state.phase))
        assert.notEqual(state.permit, undefined)
      for (const effect of effects) {
        if (effect.kind === 'wake') assert.equal(effect.boot, state.permit ?? before.permit)
      }
    })
  })

  it('the instance is idle only while it runs and no lease is held, and then its report is always due', () => {
    holds(({ state }) => {
      if (state.idle === undefined) return
      assert.equal(state.phase, LeasePhase.Running)
      assert.ok(state.leases.every(({ status }) => status === 'returned'))
      assert.ok(state.idle.tellAtMs > 0)
    })
  })

  it('a packet of a peer is kept only while it goes to sleep, sleeps or wakes, and asleep something is due then', () => {
    holds(({ state, nowMs }) => {
      const { phase, peersWait, peersWoke } = state
      const mayWait: readonly LeasePhase[] = [
        LeasePhase.StandingBy,
        LeasePhase.Asleep,
        LeasePhase.Held,
        LeasePhase.Waking,
        LeasePhase.Stopping,
      ]
      assert.ok(peersWait === undefined || mayWait.includes(phase), phase)
      assert.ok(
        peersWoke === undefined || phase === LeasePhase.Waking || phase === LeasePhase.Stopping,
        phase,
      )
      if (phase !== LeasePhase.Asleep || peersWait === undefined) return
      const dueMs = nextDueMs(state) ?? Infinity
      assert.ok(dueMs > nowMs && dueMs <= (state.wakeFailure?.retryAtMs ?? 0), String(dueMs))
    })
  })

  it('a packet of a peer to a sleeper begins a wake or is remembered', () => {
    const may: readonly LeasePhase[] = [
      LeasePhase.StandingBy,
      LeasePhase.Asleep,
      LeasePhase.Held,
      LeasePhase.Waking,
    ]
    holds(({ state }, effects, told, before) => {
      if (told.kind !== 'peers' || !may.includes(before.phase)) return
      assert.ok(state.peersWait === true || effects.some(({ kind }) => kind === 'wake'), before.phase)
    })
  })

  it('nothing wakes while it is held, and only a release or an order ends that', () => {
    const ends: readonly string[] = ['release', 'moved', 'start', 'stop', 'stopped', 'remove']
    holds(({ state }, effects, told, before) => {
      if (before.phase !== LeasePhase.Held || ends.includes(told.kind)) return
      assert.equal(state.phase, LeasePhase.Held, told.kind)
      assert.ok(!effects.some(({ kind }) => kind === 'wake' || kind === 'opened' || kind === 'refused'))
    })
  })

  it('the number of the boot never shrinks', () => {
    holds(({ state }, _, __, before) => {
      assert.ok(state.boot >= before.boot)
    })
  })

  it('every order to stand by begins one sleep at most, and is answered, once', () => {
    fc.assert(
      fc.property(timeline, (steps) => {
        let isOpen = false
        let slept = false
        play(steps, ({ state }, effects, __, before) => {
          // A user's order may wait for the gateways before its sleep begins.
          if (before.order === undefined && state.order !== undefined) [isOpen, slept] = [true, false]
          for (const effect of effects) {
            if (effect.kind === 'sleep') {
              assert.deepEqual([isOpen, slept], [true, false])
              slept = true
            } else if (effect.kind === 'answer-stand-by' && state.order === undefined) isOpen = false
          }
          assert.equal(isOpen, state.order !== undefined)
        })
      }),
      { numRuns: 2_000 },
    )
  })
})
