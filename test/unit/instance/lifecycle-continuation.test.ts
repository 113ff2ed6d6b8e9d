import { strict as assert } from 'node:assert'
import { decide, newLifecycle } from '../../../src/domain/instance/lifecycle.ts'
import type { InstanceProjection } from '../../../src/domain/instance/projection.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { effectsOf } from '../../../src/domain/instance/lifecycle-effects.ts'
import { projectionOf } from '../../../src/domain/instance/lifecycle-projection.ts'
import { EventKind } from '../../../src/domain/instance/lifecycle-state.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import {
  after,
  exited,
  onTraffic,
  refused,
  slept,
  startFailed,
  stop,
  tick,
  waking,
} from './lifecycle-life.ts'
import { startReport } from '../../support/fake-host.ts'

const rules = { autostart: true, deleteOnStop: false, restartPolicy: RestartPolicy.Always }
const nowMs = 5_000_000

const recorded: InstanceProjection = {
  state: InstanceState.Stopped,
  boot: 7,
  startCount: 6,
  restartCount: 4,
  restartAttempt: 3,
  restartNextAtMs: nowMs + 4_000,
  startedAtMs: 1_000,
  stoppedAtMs: 2_000,
  uptimeMs: 900,
  bootTimeUs: 1,
  vmmStartTimeUs: 2,
  vmmLoadTimeUs: 3,
  vmmReadyTimeUs: 4,
  netTimeUs: 5,
  startKind: 'boot',
  stopReason: 3,
  exitCode: 1,
  stopCode: 0,
  failure: 'once',
  failureKind: 'HostFull',
}
const running = {
  ...recorded,
  state: InstanceState.Running,
  restartNextAtMs: undefined,
  stopReason: undefined,
}

function continued(projection: InstanceProjection, more: Partial<typeof rules> = {}) {
  return newLifecycle({ ...rules, ...more }, { revision: 40, projection })
}

describe('a life that goes on from its row', () => {
  it('shows readers what the row says, has a higher revision, and still waits for its restart', () => {
    const life = continued(recorded)
    assert.deepEqual(JSON.parse(JSON.stringify(projectionOf(life))), recorded)
    assert.ok(life.revision > 40)
    assert.equal(effectsOf(life).wakeAtMs, recorded.restartNextAtMs)
  })

  it('starts with a boot that the host has not seen', () => {
    const decision = decide(continued(recorded), { kind: EventKind.Start }, nowMs)
    assert.ok(decision.accepted)
    assert.deepEqual(decision.effects.hostWork, { kind: 'start', boot: 8 })
    assert.equal(decision.life.startCount, 7)
  })

  for (const state of [InstanceState.Starting, InstanceState.Running]) {
    it(`asks the host again for the boot that was ${state}, and takes its report`, () => {
      const life = continued({ ...running, state })
      assert.deepEqual(effectsOf(life).hostWork, { kind: 'start', boot: 7 })
      const decision = decide(life, { kind: EventKind.Started, report: startReport(7, 3_000) }, nowMs)
      assert.ok(decision.accepted)
      const { state: reached, startedAtMs, startCount, uptimeMs } = projectionOf(decision.life)
      assert.deepEqual([reached, startedAtMs, startCount, uptimeMs], [InstanceState.Running, 3_000, 6, 900])
    })
  }

  for (const state of [InstanceState.Draining, InstanceState.Stopping]) {
    for (const [stopReason, forced] of [
      [12, false],
      [28, true],
    ] as const) {
      it(`finishes a stop that was ${state}, ${forced ? 'by force' : 'in order'}`, () => {
        const { hostWork } = effectsOf(continued({ ...running, state, stopReason }))
        assert.partialDeepStrictEqual(hostWork, { kind: 'stop', boot: 7, forced })
      })
    }
  }

  it('deletes a stopped instance with delete-on-stop, unless a restart is due', () => {
    const over = { ...recorded, restartNextAtMs: undefined }
    assert.deepEqual(effectsOf(continued(over, { deleteOnStop: true })).hostWork, { kind: 'remove' })
    assert.equal(effectsOf(continued(recorded, { deleteOnStop: true })).hostWork, undefined)
    assert.equal(effectsOf(continued(over)).hostWork, undefined)
  })

  it('orders an instance in standby to stand by once more, and takes the answer of the host as the truth', () => {
    const standby = {
      ...recorded,
      state: InstanceState.Standby,
      restartNextAtMs: undefined,
      snapshotUuid: 'memory',
    }
    const settings = { ...rules, scaleToZero: onTraffic }
    const life = newLifecycle(settings, { revision: 40, projection: standby })
    const order = { kind: 'stand-by', boot: 7, epoch: 0, permit: 8 }
    assert.partialDeepStrictEqual(effectsOf(life).hostWork, order)
    assert.equal(projectionOf(life).snapshotUuid, 'memory')
    const confirmed = after(life, [nowMs, slept(7, 2_000, 'memory')])
    assert.equal(effectsOf(confirmed).hostWork, undefined)
    assert.equal(after(confirmed, [nowMs, waking(8, nowMs)]).state, InstanceState.Starting)
    const lost = after(life, [nowMs, refused(7, 0)])
    assert.equal(lost.state, InstanceState.Starting)
    assert.ok(lost.boot > 1_000)
  })

  it('takes no late news of the boot that was permitted for a wake, once it has gone on to a later boot', () => {
    const starting = { ...recorded, state: InstanceState.Starting, restartNextAtMs: undefined }
    const life = newLifecycle({ ...rules, scaleToZero: onTraffic }, { revision: 9, projection: starting })
    assert.deepEqual([life.boot, life.permit], [7, 8])
    const later = after(
      life,
      [1, startFailed(7, 'HostFull')],
      [2_000, tick],
      [2_001, startFailed(8, 'HostFull')],
      [9_000, tick],
    )
    assert.equal(later.boot, 9)
    const told = after(later, [9_001, exited(8, 9_001)], [9_002, waking(8, 9_002)])
    assert.deepEqual([told.state, told.boot], [InstanceState.Starting, 9])
  })

  it('stops also the next boot, which the host may have been permitted to start meanwhile', () => {
    const life = newLifecycle({ ...rules, scaleToZero: onTraffic }, { revision: 40, projection: running })
    assert.partialDeepStrictEqual(effectsOf(after(life, [nowMs, stop])).hostWork, { kind: 'stop', boot: 8 })
  })

  it('begins anew where no workflow has written the row', () => {
    const life = newLifecycle(rules, { revision: 0, projection: recorded })
    assert.deepEqual(life, newLifecycle(rules))
  })
})
