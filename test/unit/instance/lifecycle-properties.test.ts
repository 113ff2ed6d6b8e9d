import { strict as assert } from 'node:assert'
import { decide } from '../../../src/domain/instance/lifecycle.ts'
import { effectsOf, HostWorkKind } from '../../../src/domain/instance/lifecycle-effects.ts'
import { EventKind, Phase, phaseOf, StartOrigin } from '../../../src/domain/instance/lifecycle-state.ts'
import type { LifecycleEvent } from '../../../src/domain/instance/lifecycle-state.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import { bootsLeftOut } from '../../../src/domain/instance/lifecycle-standby.ts'
import { projectionOf } from '../../../src/domain/instance/lifecycle-projection.ts'
import { absent, connectionsClosed, removed } from './lifecycle-life.ts'
import { answerTo, holds } from './lifecycle-stories.ts'

describe('whatever happens to an instance', () => {
  holds(
    'boot numbers grow; a boot that its host could not wake keeps its number for the next attempt',
    ({ before, event, after }) => {
      if (before.boot === after.boot) return
      const more = after.boot - before.boot
      if (more === -1) assert.ok(after.state === Phase.Standby && before.state === Phase.Starting)
      // A lost host may have begun the boot of its permit.
      else if (event.kind === EventKind.HostLost) assert.ok(more === 1 || more === 2)
      // The host began the boot of its permit, that boot ended, and its end was followed by a new boot.
      else if (more === 2) assert.ok(event.kind === EventKind.Exited && event.exit.boot === before.permit)
      // Another host than the first does not know the instance, and refuses to let it sleep.
      else if (event.kind === EventKind.StandByRefused) assert.equal(more, bootsLeftOut + 1)
      else assert.equal(more, 1)
    },
  )

  holds('a failure has the kind that its host reported, never that of an older one', ({ event, after }) => {
    if (after.failure === undefined) assert.equal(after.failureKind, undefined)
    const told = event.kind === EventKind.StartFailed || event.kind === EventKind.WakeFailed
    if (told && after.failure === event.message) assert.equal(after.failureKind, event.failure)
  })

  holds('a boot that came up is never asked to start again', ({ before, after }) => {
    const { hostWork } = effectsOf(after)
    const ran = before.state === Phase.Running ? before.boot : before.report?.boot
    // The exception is a drain that is taken back: the same boot is then asked for again.
    if (after.reopen === true) return
    if (hostWork?.kind === HostWorkKind.Start && ran !== undefined) assert.ok(hostWork.boot > ran)
  })

  holds('in standby there is one permit, for the boot that follows', ({ after }) => {
    if (after.state !== Phase.Standby) return
    assert.equal(after.permit, after.boot + 1)
    assert.equal(after.sleep?.boot, after.boot)
  })

  holds(
    'only an instance that runs or is already in standby is sent there, and one that speaks against it only by its user',
    (step) => {
      const { before, after } = step
      if (effectsOf(after).hostWork?.kind !== HostWorkKind.StandBy) return
      assert.ok(phaseOf(after) === Phase.Running || phaseOf(after) === Phase.Standby)
      // At a user's word the host is asked all the same: it says so if the application speaks against it.
      const isUsers = after.order?.drainMs !== undefined
      if (before.order === undefined && after.state === Phase.Running && !isUsers)
        assert.notEqual(after.disabledBoot, after.boot)
    },
  )

  holds('while the host may start a boot by itself, a stop is for that boot', ({ before, after }) => {
    const { hostWork } = effectsOf(after)
    if (hostWork?.kind !== HostWorkKind.Stop || before.permit === undefined) return
    assert.ok(hostWork.boot >= before.permit)
  })

  holds('the host is asked for one boot, the newest', ({ after }) => {
    const { hostWork } = effectsOf(after)
    if (hostWork === undefined || !('boot' in hostWork)) return
    assert.equal(hostWork.boot, after.boot)
  })

  holds(
    'a new boot is asked for only when the one before has ended or failed',
    ({ before, event, after }) => {
      if (after.boot === before.boot) return
      const down = before.state === Phase.Stopped || before.retryAtMs !== undefined
      const ends = event.kind === EventKind.Exited && event.exit.boot === before.boot
      const fails = event.kind === EventKind.StartFailed && event.boot === before.boot
      const { permit } = before
      const isByHost = 'boot' in event && event.boot === permit && permit !== undefined
      const isReport = event.kind === EventKind.Started && event.report.boot === permit
      const isEnd = event.kind === EventKind.Exited && event.exit.boot === permit
      if (isByHost || isReport || isEnd) return
      // A stop uses up the permit's boot, and the host is asked to stop that boot.
      if (event.kind === EventKind.Stop && after.boot === permit) return
      if (before.state === Phase.Standby || (before.state === Phase.Starting && before.sleep !== undefined))
        return
      const neverWas = event.kind === EventKind.Absent && event.boot === before.boot
      const isLost = event.kind === EventKind.Lost && event.boot === before.boot
      // It sleeps as its user wanted, and is to start again after that.
      const sleeps = event.kind === EventKind.Slept && event.boot === before.boot
      if (sleeps && before.startAgain === true) return
      // All VMs of a lost host have ended.
      if (event.kind === EventKind.HostLost) return
      // It slept to move, and starts after that.
      const moves = event.kind === EventKind.Slept && before.order?.hold !== undefined
      assert.ok(down || ends || fails || neverWas || moves || (isLost && before.state === Phase.Running))
    },
  )

  holds('while another host is looked for, no host has work', ({ after }) => {
    if (after.placing === true) assert.equal(effectsOf(after).hostWork, undefined)
  })

  holds(
    'after a loss, no boot that the lost host may have started is asked for',
    ({ before, event, after }) => {
      if (event.kind !== EventKind.HostLost || after.placing !== true || before.placing === true) return
      const { hostWork } = effectsOf({ ...after, placing: undefined })
      const used = Math.max(before.boot, before.permit ?? 0)
      if (hostWork?.kind === HostWorkKind.Start) assert.ok(hostWork.boot > used)
      if (hostWork?.kind === HostWorkKind.StandBy) assert.ok(hostWork.permit > used)
    },
  )

  holds('the revision grows exactly when readers would see a difference', ({ before, after }) => {
    const differs = JSON.stringify(projectionOf(before)) !== JSON.stringify(projectionOf(after))
    assert.equal(after.revision, before.revision + (differs ? 1 : 0))
  })

  holds(
    'restart_count grows only with a start by the policy, and never without a policy',
    ({ before, after }) => {
      if (after.restartCount === before.restartCount) return
      assert.equal(after.restartCount, before.restartCount + 1)
      assert.equal(after.startOrigin, StartOrigin.Policy)
      assert.notEqual(after.restartPolicy, RestartPolicy.Never)
    },
  )

  holds('there are never more restarts than starts, nor a longer sequence than restarts', ({ after }) => {
    assert.ok(after.restartCount <= after.startCount)
    assert.ok(after.restartAttempt <= after.restartCount)
  })

  holds(
    'a stop by hand ends the sequence and leaves nothing waiting to start',
    ({ event, after, accepted }) => {
      if (event.kind !== EventKind.Stop || !accepted) return
      assert.equal(after.restartAttempt, 0)
      assert.equal(after.restartAtMs, undefined)
      assert.notEqual(after.startAgain, true)
      assert.ok(!([Phase.Running, Phase.Starting] as Phase[]).includes(phaseOf(after)))
    },
  )

  holds(
    'only a start, a restart that is due, or its host with the permit that it was given brings a stopped instance up',
    (step) => {
      const { before, event, after } = step
      if (before.state !== Phase.Stopped || after.state === Phase.Stopped) return
      if (before.permit !== undefined && after.boot === before.permit) return
      assert.ok(event.kind === EventKind.Start || event.kind === EventKind.Tick)
      if (event.kind === EventKind.Tick) assert.ok(before.restartAtMs !== undefined)
    },
  )

  holds('a deletion is never taken back', ({ before, after }) => {
    if (before.deletion !== undefined) assert.ok(after.deletion !== undefined)
  })

  holds('a retired instance accepts no start, and only drains, stops and is deleted', (step) => {
    const { before, event, after, accepted } = step
    if (before.retired !== true) return
    assert.equal(after.retired, true)
    if (event.kind === EventKind.Start) assert.equal(accepted, false)
    const ends: readonly Phase[] = [Phase.Draining, Phase.Stopping, Phase.Deleting, Phase.Deleted]
    assert.ok(ends.includes(phaseOf(after)), phaseOf(after))
  })

  holds('a retired instance is deleted once its host has stopped and removed it', ({ after, event }) => {
    if (event.kind !== EventKind.Stop || event.thenDelete !== true) return
    let life = after
    // The answer to the row of a move counts whatever came meanwhile.
    const moveOver = (): LifecycleEvent => answerTo(life, true)
    for (const word of [moveOver, connectionsClosed, absent, removed]) {
      const decision = decide(life, typeof word === 'function' ? word(life.boot) : word, 0)
      if (decision.accepted) ({ life } = decision)
    }
    assert.equal(phaseOf(life), Phase.Deleted)
  })

  holds('uptime never shrinks', ({ before, after }) => {
    assert.ok(after.uptimeMs >= before.uptimeMs)
  })

  holds('an event that comes twice has the effect of one', ({ event, after }) => {
    if (event.kind === EventKind.Tick || event.kind === EventKind.ConnectionsClosed) return
    const again = decide(after, event, 0)
    if (event.kind === EventKind.Stop && event.drainTimeoutMs > 0) return
    if (again.accepted) assert.equal(again.life.revision, after.revision)
  })

  holds(
    'unless it is stopped, running, in standby or deleted, there is host work, a search for a host or a deadline',
    ({ after }) => {
      const { hostWork, wakeAtMs, place, moveRow } = effectsOf(after)
      const phase = phaseOf(after)
      const settled =
        phase === Phase.Stopped ||
        phase === Phase.Running ||
        phase === Phase.Deleted ||
        phase === Phase.Standby
      const isWritten = place === true || moveRow !== undefined
      assert.ok(settled || isWritten || hostWork !== undefined || wakeAtMs !== undefined)
    },
  )
})
