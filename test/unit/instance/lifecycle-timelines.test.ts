import { strict as assert } from 'node:assert'
import { effectsOf } from '../../../src/domain/instance/lifecycle-effects.ts'
import { projectionOf } from '../../../src/domain/instance/lifecycle-projection.ts'
import { Phase, phaseOf } from '../../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle } from '../../../src/domain/instance/lifecycle-state.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import { restartDelayMs } from '../../../src/domain/instance/restart-schedule.ts'
import {
  absent,
  after,
  connectionsClosed,
  created,
  drainingStop,
  exited,
  forcedStop,
  idle,
  listening,
  onTraffic,
  slept,
  start,
  started,
  startFailed,
  stop,
  tick,
  wakeFailed,
  waking,
} from './lifecycle-life.ts'

const always = { autostart: true, restartPolicy: RestartPolicy.Always } as const
const crash = { exitCode: 1 } as const

function running(rules: Parameters<typeof created>[0] = always): Lifecycle {
  return after(created({ ...rules, autostart: true }), [100, started(1, 100)])
}

describe('a restart sequence', () => {
  it('waits 0, 5, 10, 20, 40 s and so on, never more than 5 minutes', () => {
    const delays = Array.from({ length: 10 }, (_, attempt) => restartDelayMs(attempt) / 1_000)
    assert.deepEqual(delays, [0, 5, 10, 20, 40, 80, 160, 300, 300, 300])
  })

  it('begins at once, and shows its attempt and when the next one is due', () => {
    const once = after(running(), [200, exited(1, 200, crash)])
    assert.equal(once.state, Phase.Starting)
    assert.deepEqual([once.restartAttempt, once.restartCount, once.startCount], [1, 1, 2])
    const twice = after(once, [300, started(2, 300)], [400, exited(2, 400, crash)])
    assert.equal(twice.state, Phase.Stopped)
    assert.equal(projectionOf(twice).restartNextAtMs, 5_400)
    assert.equal(effectsOf(twice).wakeAtMs, 5_400)
    assert.equal(after(twice, [5_399, tick]).state, Phase.Stopped)
    assert.equal(after(twice, [5_400, tick]).restartAttempt, 2)
  })

  it('is over after 10 s without problems, even if the tick for that comes late', () => {
    const again = after(running(), [200, exited(1, 200, crash)], [300, started(2, 300)])
    assert.equal(effectsOf(again).wakeAtMs, 10_300)
    assert.equal(after(again, [10_299, tick]).restartAttempt, 1)
    assert.equal(after(again, [10_300, tick]).restartAttempt, 0)
    const late = after(again, [10_301, exited(2, 10_301, crash)])
    assert.deepEqual([late.state, late.restartAttempt, late.restartCount], [Phase.Starting, 1, 2])
  })

  it('ends with a stop or a start by hand', () => {
    const waiting = after(
      running(),
      [200, exited(1, 200, crash)],
      [300, started(2, 300)],
      [400, exited(2, 400, crash)],
    )
    const stopped = after(waiting, [500, stop])
    assert.deepEqual(
      [stopped.state, stopped.restartAttempt, stopped.restartAtMs],
      [Phase.Stopped, 0, undefined],
    )
    assert.equal(after(stopped, [999_999, tick]).state, Phase.Stopped)
    const byHand = after(waiting, [500, start])
    assert.deepEqual([byHand.state, byHand.restartAttempt, byHand.restartCount], [Phase.Starting, 0, 1])
  })

  it('with on-failure follows a crash and a failing exit, not an exit with 0', () => {
    const life = running({ restartPolicy: RestartPolicy.OnFailure })
    assert.equal(after(life, [200, exited(1, 200, { exitCode: 0 })]).state, Phase.Stopped)
    assert.equal(after(life, [200, exited(1, 200, { exitCode: 1 })]).state, Phase.Starting)
    assert.equal(after(life, [200, exited(1, 200, { signal: 11 })]).state, Phase.Starting)
    assert.equal(after(life, [200, exited(1, 200, { cause: 'kernel-panic' })]).state, Phase.Starting)
    assert.equal(after(life, [200, exited(1, 200, { cause: 'vmm-lost' })]).state, Phase.Starting)
  })

  it('never follows a stop that was asked for', () => {
    for (const asked of [stop, forcedStop]) {
      const life = after(running(), [200, asked], [300, exited(1, 300, crash)])
      assert.deepEqual([life.state, life.restartAtMs], [Phase.Stopped, undefined])
    }
  })
})

describe('commands that meet another one', () => {
  it('a start while stopping is remembered and starts again after the stop', () => {
    const life = after(running(), [200, stop], [250, start])
    assert.equal(life.state, Phase.Stopping)
    const again = after(life, [300, exited(1, 300)])
    assert.deepEqual(
      [again.state, again.boot, again.startCount, again.restartCount],
      [Phase.Starting, 2, 2, 0],
    )
  })

  it('a stop after that start forgets it', () => {
    const life = after(running(), [200, stop], [250, start], [260, stop], [300, exited(1, 300)])
    assert.equal(life.state, Phase.Stopped)
  })

  it('a forced stop overtakes a graceful one, and a graceful one does not soften it', () => {
    const graceful = after(running(), [200, stop])
    const forced = after(graceful, [210, forcedStop])
    assert.deepEqual(effectsOf(forced).hostWork, { kind: 'stop', boot: 1, forced: true, graceMs: 0 })
    assert.equal(after(forced, [220, stop]).asked?.forced, true)
    assert.deepEqual(after(forced, [300, exited(1, 300, { cause: 'forced' })]).outcome, { stopReason: 28 })
  })

  it('a stop while starting shuts that boot down, and the late report of its start is kept', () => {
    const life = after(created(always), [10, stop])
    assert.deepEqual(effectsOf(life).hostWork, { kind: 'stop', boot: 1, forced: false, graceMs: 10_000 })
    const reported = after(life, [20, started(1, 15)])
    assert.equal(reported.state, Phase.Stopping)
    const ended = after(reported, [30, exited(1, 30)])
    assert.deepEqual([ended.state, ended.uptimeMs], [Phase.Stopped, 15])
  })

  it('a stop of a boot that its host never knew ends without a report', () => {
    const life = after(created(always), [10, stop], [20, absent(1)])
    assert.deepEqual([life.state, life.outcome, life.stoppedAtMs], [Phase.Stopped, { stopReason: 12 }, 20])
  })

  it('repeated calls change nothing, not even the revision', () => {
    const stopping = after(running(), [200, stop])
    assert.deepEqual(after(stopping, [210, stop]).revision, stopping.revision)
    const up = running()
    assert.deepEqual(after(up, [200, start]), up)
  })
})

describe('draining', () => {
  it('ends when nothing is connected, or at its deadline', () => {
    const draining = after(running(), [200, drainingStop(1_000)])
    assert.equal(draining.state, Phase.Draining)
    assert.equal(projectionOf(draining).stopReason, 12)
    assert.equal(effectsOf(draining).wakeAtMs, 1_200)
    assert.equal(after(draining, [300, connectionsClosed]).state, Phase.Stopping)
    assert.equal(after(draining, [1_199, tick]).state, Phase.Draining)
    assert.equal(after(draining, [1_200, tick]).state, Phase.Stopping)
  })

  it('of two deadlines the earlier counts, and a repeat does not prolong it', () => {
    const draining = after(running(), [200, drainingStop(1_000)])
    assert.equal(after(draining, [900, drainingStop(1_000)]).drainUntilMs, 1_200)
    assert.equal(after(draining, [300, drainingStop(100)]).drainUntilMs, 400)
  })

  it('is taken back by a start, and the instance runs on in the same boot', () => {
    const life = after(running(), [200, drainingStop(1_000)], [300, start])
    assert.deepEqual([life.state, life.boot, life.startCount, life.outcome], [Phase.Running, 1, 1, undefined])
  })
})

describe('a start that fails', () => {
  it('is not tried again if its boot comes up although it was reported as failed', () => {
    const up = after(created({ autostart: true }), [0, startFailed(1, 'HostFull')], [500, started(1, 400)])
    assert.equal(up.state, Phase.Running)
    assert.equal(after(up, [1_000, tick]).boot, 1)
    assert.equal(after(up, [2_000, exited(1, 2_000)]).state, Phase.Stopped)
  })

  it('a boot that came up and ended after its start was said to have failed does not run, however late that is told', () => {
    const ended = after(
      created({ autostart: true }),
      [0, startFailed(1, 'HostFull')],
      [500, exited(1, 400)],
      [600, started(1, 300)],
    )
    assert.equal(ended.state, Phase.Starting)
    const next = after(ended, [1_000, tick])
    assert.equal(next.boot, 2)
    assert.equal(after(next, [1_500, started(2, 1_400)]).state, Phase.Running)
  })

  it('in the same way again changes nothing for readers', () => {
    const failed = after(created({ autostart: true }), [0, startFailed(1, 'HostFull')], [1_000, tick])
    assert.equal(failed.failureKind, 'HostFull')
    assert.equal(after(failed, [1_100, startFailed(2, 'HostFull')]).revision, failed.revision)
  })

  it('is tried with new boots, three in all, and then stays stopped with the reason', () => {
    let life = created({ autostart: true })
    life = after(life, [0, startFailed(1, 'HostFull')])
    assert.deepEqual(
      [life.state, effectsOf(life)],
      [Phase.Starting, { wakeAtMs: 1_000, hideRow: false, deleteRow: false }],
    )
    life = after(life, [1_000, tick], [1_100, startFailed(2, 'HostFull')])
    assert.equal(life.retryAtMs, 3_100)
    life = after(life, [3_100, tick], [3_200, startFailed(3, undefined)])
    assert.deepEqual(
      [life.state, life.boot, life.startCount, life.failure],
      [Phase.Stopped, 3, 1, 'no: something'],
    )
  })

  it('of a sleeping instance is tried with the same boot, because the snapshot on its host is for that boot', () => {
    const asleep = after(
      running({ scaleToZero: onTraffic }),
      [500, idle(1, 400)],
      [1_500, tick],
      [1_600, slept(1, 1_600, 'memory')],
    )
    const failed = after(asleep, [2_000, start], [2_100, startFailed(2, 'HostFull')])
    assert.equal(failed.retryAtMs, 3_100)
    const again = after(failed, [3_100, tick])
    assert.deepEqual([again.boot, again.permit, again.startTries], [2, 2, 2])
    assert.deepEqual(effectsOf(again).hostWork, { kind: 'start', boot: 2 })
  })

  it('for good is not tried again, whatever the policy', () => {
    const life = after(created(always), [0, startFailed(1, 'ImageUnusable')])
    assert.deepEqual([life.state, life.restartAtMs], [Phase.Stopped, undefined])
  })

  it('with a policy that restarts goes on in its back-off', () => {
    let life = created(always)
    for (let boot = 1; boot <= 3; boot++)
      life = after(life, [0, startFailed(boot, 'HostFull')], [60_000, tick])
    assert.deepEqual([life.state, life.restartAttempt, life.boot], [Phase.Starting, 1, 4])
  })

  it('and is stopped between two tries is stopped at its host too, because a try may still come up there', () => {
    for (const ephemeral of [false, true]) {
      const rules = { ...always, deleteOnStop: ephemeral }
      const life = after(created(rules), [0, startFailed(1, 'HostFull')], [1, stop])
      assert.equal(life.state, Phase.Stopping)
      assert.partialDeepStrictEqual(effectsOf(life).hostWork, { kind: 'stop', boot: 1, forced: false })
      for (const end of [absent(1), exited(1, 2, { cause: 'forced' })]) {
        const over = after(life, [2, end])
        assert.equal(over.state, Phase.Stopped)
        assert.equal(phaseOf(over), ephemeral ? Phase.Deleting : Phase.Stopped)
        assert.equal(over.failure, 'no: HostFull')
      }
    }
  })

  it('and is given up is stopped at its host by force, until the host has done that or a new start comes', () => {
    let life = created({ autostart: true })
    for (let boot = 1; boot <= 3; boot++)
      life = after(life, [0, startFailed(boot, undefined)], [60_000, tick])
    assert.equal(life.state, Phase.Stopped)
    assert.deepEqual(effectsOf(life).hostWork, { kind: 'stop', boot: 3, forced: true, graceMs: 0 })
    assert.partialDeepStrictEqual(effectsOf(after(life, [60_001, absent(2)])).hostWork, { boot: 3 })
    for (const end of [absent(3), exited(3, 60_002)]) {
      assert.equal(effectsOf(after(life, [60_002, end])).hostWork, undefined)
    }
    const again = after(life, [60_003, start], [60_004, absent(3)])
    assert.deepEqual(effectsOf(again).hostWork, { kind: 'start', boot: 4 })
  })
})

describe('a wake that fails before the answer to the order was heard', () => {
  it('leaves the instance in standby, with the end, time and snapshot of its sleep once these are reported', () => {
    for (const memory of [undefined, 'memory']) {
      const asleep = after(
        running({ scaleToZero: onTraffic }),
        [500, idle(1, 400)],
        [1_500, tick],
        [1_600, waking(2, 1_590)],
        [1_700, wakeFailed(2)],
        [1_800, slept(1, 1_580, memory)],
      )
      const { state, stopReason, stoppedAtMs, uptimeMs, snapshotUuid } = projectionOf(asleep)
      assert.deepEqual([state, stopReason], [Phase.Standby, memory === undefined ? 7 : 4])
      assert.deepEqual([stoppedAtMs, uptimeMs, snapshotUuid], [1_580, 1_480, memory])
    }
  })
})

describe('a boot that was sent to sleep by a workflow that was lost', () => {
  it('is in standby for the next workflow once its host says so, and can wake by its permit', () => {
    const asleep = after(running({ scaleToZero: onTraffic }), [1_700, slept(1, 1_580)])
    const { state, stopReason, stoppedAtMs } = projectionOf(asleep)
    assert.deepEqual([state, stopReason, stoppedAtMs], [Phase.Standby, 7, 1_580])
    assert.equal(effectsOf(asleep).hostWork, undefined)
    assert.equal(after(asleep, [2_000, waking(2, 1_990)]).boot, 2)
  })

  it('is in standby even if the next workflow was asking for its start, whose report comes later', () => {
    const asking = created({ scaleToZero: onTraffic, autostart: true })
    const asleep = after(asking, [1_700, slept(1, 1_580)], [1_800, started(1, 100)])
    const { state, startedAtMs, uptimeMs } = projectionOf(asleep)
    assert.deepEqual([state, startedAtMs, uptimeMs], [Phase.Standby, 100, 1_480])
    assert.equal(effectsOf(asleep).hostWork, undefined)
    assert.equal(after(asleep, [2_000, waking(2, 1_990)]).boot, 2)
  })

  it('does not change an instance that runs another boot', () => {
    const life = running({ scaleToZero: onTraffic })
    assert.equal(after(life, [1_700, slept(0, 1_580)]).state, Phase.Running)
  })
})

describe('a host that was halted', () => {
  it('starts its instances again as the platform: start_count grows, restart_count does not', () => {
    const life = after(running({ restartPolicy: RestartPolicy.Never }), [
      5_100,
      exited(1, 5_100, { cause: 'host-halted' }),
    ])
    assert.deepEqual([life.state, life.boot, life.startCount, life.restartCount], [Phase.Starting, 2, 2, 0])
    assert.equal(life.uptimeMs, 5_000)
  })

  it('does not use up the tries of a start: its instances are started until that succeeds', () => {
    let life = after(running(), [200, exited(1, 200, { cause: 'host-halted' })])
    for (let boot = 2; boot <= 20; boot++)
      life = after(life, [0, startFailed(boot, 'HostFull')], [30_000, tick])
    assert.deepEqual([life.state, life.boot], [Phase.Starting, 21])
  })

  it('does not start instances again that were being stopped', () => {
    const life = after(running(), [200, stop], [300, exited(1, 300, { cause: 'host-halted' })])
    assert.equal(life.state, Phase.Stopped)
  })
})

describe('delete-on-stop', () => {
  const ephemeral = { deleteOnStop: true, restartPolicy: RestartPolicy.Always } as const

  it('deletes what stopped by hand or will not restart', () => {
    assert.equal(phaseOf(after(running(ephemeral), [200, stop], [300, exited(1, 300)])), Phase.Deleting)
    const never = running({ ...ephemeral, restartPolicy: RestartPolicy.Never })
    assert.equal(phaseOf(after(never, [200, exited(1, 200)])), Phase.Deleting)
  })

  it('lets the restart policy go first; a stop during the wait then deletes', () => {
    const waiting = after(
      running(ephemeral),
      [200, exited(1, 200, crash)],
      [300, started(2, 300)],
      [400, exited(2, 400, crash)],
    )
    assert.equal(phaseOf(waiting), Phase.Stopped)
    assert.equal(phaseOf(after(waiting, [500, stop])), Phase.Deleting)
  })

  it('does not delete an instance that was never started', () => {
    assert.equal(phaseOf(after(created(ephemeral), [0, stop])), Phase.Stopped)
  })
})

describe('reports that come late, twice or for another boot', () => {
  it('an end that comes before the report of its start gets the times of that report', () => {
    const life = after(created({ autostart: true }), [50, exited(1, 50)], [60, started(1, 20)])
    assert.deepEqual([life.state, life.uptimeMs, projectionOf(life).startedAtMs], [Phase.Stopped, 30, 20])
  })

  it('the first listening socket, known later, fills in its time and changes nothing else, whatever came since', () => {
    const late = listening(1, 100)
    const since = [[], [[200, drainingStop(1_000)]], [[200, stop]], [[200, exited(1, 200)]]] as const
    for (const events of since) {
      const life = after(running({}), ...events)
      const filled = after(life, [300, late])
      assert.deepEqual(projectionOf(filled), { ...projectionOf(life), netTimeUs: 40_000 })
      assert.equal(filled.revision, life.revision + 1)
      assert.deepEqual(after(filled, [400, late], [500, started(1, 100)]), filled)
    }
  })

  it('the first listening socket of an earlier boot changes nothing', () => {
    const life = after(running(), [200, exited(1, 200)], [300, start], [400, started(2, 400)])
    assert.deepEqual(after(life, [500, listening(1, 100)]), life)
  })

  it('the report of a listening socket may come before the report of its start', () => {
    const life = after(created({ autostart: true }), [30, listening(1, 20)], [40, started(1, 20)])
    assert.deepEqual([life.state, projectionOf(life).netTimeUs], [Phase.Running, 40_000])
  })

  it('an end that is reported twice counts once', () => {
    const once = after(running(), [200, exited(1, 200, crash)])
    assert.deepEqual(after(once, [201, exited(1, 200, crash)]), once)
  })
})
