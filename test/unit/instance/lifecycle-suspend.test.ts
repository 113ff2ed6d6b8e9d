import { strict as assert } from 'node:assert'
import { AskerKind } from '../../../src/domain/event/asker.ts'
import { StandByRefusal } from '../../../src/domain/instance/host-work.ts'
import { effectsOf, HostWorkKind } from '../../../src/domain/instance/lifecycle-effects.ts'
import { decide, newLifecycle } from '../../../src/domain/instance/lifecycle.ts'
import { EventKind } from '../../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../../src/domain/instance/lifecycle-state.ts'
import { projectionOf } from '../../../src/domain/instance/lifecycle-projection.ts'
import { maxSuspendDrainMs } from '../../../src/domain/instance/lifecycle-suspend.ts'
import { newsOf } from '../../../src/domain/instance/news.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import {
  after,
  created,
  exited,
  idle,
  onTraffic,
  refused,
  slept,
  start,
  started,
  startFailed,
  stop,
  suspend,
  tick,
  waking,
} from './lifecycle-life.ts'

/** Without scale-to-zero, nothing but a user sends it to standby. */
const awake = () => after(created(), [0, start], [1, started(1, 1)])
const suspending = () => after(awake(), [5, suspend(500)])
const told = (boot: number, reason: StandByRefusal, epoch: number): LifecycleEvent => ({
  kind: EventKind.StandByRefused,
  boot,
  epoch,
  reason,
})
const orderOf = (life: Lifecycle) => {
  const { hostWork } = effectsOf(life)
  return hostWork?.kind === HostWorkKind.StandBy ? hostWork : undefined
}

describe("standby at a user's word", () => {
  it('is ordered at once, with the memory, also without scale-to-zero', () => {
    assert.deepEqual(orderOf(suspending()), {
      kind: 'stand-by',
      boot: 1,
      epoch: 5,
      permit: 2,
      stateful: true,
      graceMs: 10_000,
      drainMs: 500,
    })
  })

  it('gives what is in flight no more time than others may have to wait', () => {
    assert.equal(orderOf(after(awake(), [5, suspend(3_600_000)]))?.drainMs, maxSuspendDrainMs)
  })

  it('is shown from the moment it was asked for until the wake', () => {
    const shown = (life: Lifecycle) => projectionOf(life).suspended
    const asleep = after(suspending(), [7, slept(1, 7, 'kept')])
    assert.deepEqual([awake(), suspending(), asleep].map(shown), [undefined, true, true])
    assert.equal(asleep.state, InstanceState.Standby)
    assert.equal(shown(after(asleep, [9, waking(2, 9)])), undefined)
  })

  it('follows a start that is under way', () => {
    const starting = after(created(), [0, start], [1, suspend(500)])
    assert.equal(orderOf(starting), undefined)
    assert.equal(orderOf(after(starting, [2, started(1, 2)]))?.boot, 1)
    const retried = after(
      starting,
      [2, startFailed(1, 'HostFull')],
      [5_000, tick],
      [5_001, started(2, 5_001)],
    )
    assert.equal(orderOf(retried)?.boot, 2)
  })

  it('ends with the boot, with a stop and with a start by hand', () => {
    const ends = [exited(1, 6), stop]
    for (const end of ends) assert.equal(after(suspending(), [6, end]).suspend, undefined, end.kind)
    const starting = after(created(), [0, start], [1, suspend(500)], [2, start], [3, started(1, 3)])
    assert.equal(orderOf(starting), undefined)
  })

  it('an order for an idle period that is out already comes first, and is enough if it is carried out', () => {
    const sleepy = () => after(created({ scaleToZero: onTraffic }), [0, start], [1, started(1, 1)])
    const both = after(sleepy(), [2, idle(1, 1)], [1_001, tick], [1_002, suspend(500)])
    assert.equal(orderOf(both)?.drainMs, undefined)
    assert.equal(orderOf(after(both, [1_003, refused(1)]))?.drainMs, 500)
    const asleep = after(both, [1_003, slept(1, 1_003)])
    assert.deepEqual([asleep.state, asleep.sleep?.suspended], [InstanceState.Standby, true])
    // A start takes back a wish that was not ordered yet.
    assert.equal(orderOf(after(both, [1_003, start], [1_004, refused(1)])), undefined)
  })

  it('a start that comes after the order wakes the instance when it sleeps', () => {
    const woken = after(suspending(), [6, start], [7, slept(1, 7, 'kept')])
    assert.deepEqual([woken.state, woken.boot], [InstanceState.Starting, 2])
    const suspended = after(suspending(), [6, start], [6, suspend(500)], [7, slept(1, 7, 'kept')])
    assert.equal(suspended.state, InstanceState.Standby)
    assert.equal(after(suspending(), [6, start], [7, told(1, 'no-room', 5)]).failure, undefined)
  })

  it('nothing happens to an instance that sleeps, is stopped, or is on its way there', () => {
    const lives = [
      after(suspending(), [7, slept(1, 7, 'kept')]),
      created(),
      after(awake(), [6, stop]),
      after(awake(), [6, { kind: EventKind.Stop, force: false, drainTimeoutMs: 1_000 }]),
    ]
    for (const life of lives) {
      const asked = { kind: EventKind.Suspend, drainTimeoutMs: 0, asker: { by: AskerKind.Token } } as const
      const decision = decide(life, asked, 8)
      assert.ok(decision.accepted)
      assert.deepEqual(decision.life, life)
    }
  })

  it('if the host can not do it, the instance runs on, and its failure says why until the next attempt', () => {
    for (const reason of Object.values(StandByRefusal)) {
      const life = after(suspending(), [6, told(1, reason, 5)])
      assert.deepEqual([life.state, orderOf(life)], [InstanceState.Running, undefined])
      if (reason === StandByRefusal.NotRunning) assert.equal(life.failure, undefined)
      else assert.match(life.failure ?? '', /^it was not suspended: /, reason)
      assert.equal(after(life, [7, suspend(0)]).failure, undefined)
    }
  })

  it('an answer to an earlier order is no answer to this one', () => {
    assert.ok(orderOf(after(suspending(), [6, told(1, 'no-room', 4)])))
  })

  it('the news name the user, and the failure', () => {
    const asker = { by: AskerKind.Token, name: 'ci', requestId: 'r' } as const
    const asked = after(awake(), [5, { kind: EventKind.Suspend, drainTimeoutMs: 0, asker }])
    const newsAfter = (event: LifecycleEvent) => {
      const decision = decide(asked, event, 7)
      assert.ok(decision.accepted)
      return newsOf(asked, event, decision.life).map(({ kind, why, asker: by }) => [kind, why, by])
    }
    assert.deepEqual(newsAfter(slept(1, 7, 'kept')), [
      ['instance.state', 'its user said so; its memory is kept in snapshot kept', asker],
    ])
    assert.deepEqual(newsAfter(told(1, StandByRefusal.NoRoom, 5)), [
      ['instance.failure', 'it was not suspended: the disk of its host has no room for its memory', asker],
    ])
  })

  it('outlives the loss of its workflow, by the row', () => {
    const again = (life: Lifecycle) =>
      newLifecycle(
        { autostart: false, deleteOnStop: false, restartPolicy: 'never' },
        { revision: life.revision, projection: projectionOf(life) },
      )
    const life = again(suspending())
    // The host may have carried the first order out, and woken the instance since.
    assert.equal(life.permit, 2)
    assert.equal(orderOf(after(life, [9, started(1, 1)]))?.drainMs, maxSuspendDrainMs)
    assert.equal(after(life, [9, slept(1, 8, 'kept')]).sleep?.suspended, true)
    assert.equal(again(after(suspending(), [7, slept(1, 7, 'kept')])).sleep?.suspended, true)
  })
})
