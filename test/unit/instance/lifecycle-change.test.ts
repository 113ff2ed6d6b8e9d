import { strict as assert } from 'node:assert'
import { pendingProperties } from '../../../src/domain/instance/change.ts'
import { effectsOf, HostWorkKind } from '../../../src/domain/instance/lifecycle-effects.ts'
import type { HostWork } from '../../../src/domain/instance/lifecycle-effects.ts'
import { isRenewal } from '../../../src/domain/instance/lifecycle-change.ts'
import { projectionOf } from '../../../src/domain/instance/lifecycle-projection.ts'
import { decide, newLifecycle } from '../../../src/domain/instance/lifecycle.ts'
import { Phase } from '../../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle } from '../../../src/domain/instance/lifecycle-state.ts'
import { newsOf } from '../../../src/domain/instance/news.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import { noScaleToZero } from '../../../src/domain/standby/scale-to-zero.ts'
import {
  after,
  change,
  changeTaken,
  connectionsClosed,
  created,
  exited,
  idle,
  onTraffic,
  slept,
  start,
  started,
  stop,
  tick,
  waking,
} from './lifecycle-life.ts'

const workOf = (life: Lifecycle): HostWork | undefined => effectsOf(life).hostWork
const tells = (version: number, renew: boolean, scaleToZero = noScaleToZero as object) => ({
  kind: HostWorkKind.Change,
  version,
  scaleToZero,
  renew,
})

describe('a change of the configuration', () => {
  const running = after(created(), [0, start], [1, started(1, 1)])

  it('leaves a boot that runs as it is, and is told to its host', () => {
    const life = after(running, [2, change(1)])
    assert.equal(life.state, Phase.Running)
    assert.deepEqual(workOf(life), tells(1, false))
    const told = after(life, [3, changeTaken(1)])
    assert.equal(workOf(told), undefined)
  })

  it('changes the restart policy at once', () => {
    const life = after(running, [2, change(1, { restartPolicy: RestartPolicy.Always })])
    assert.equal(after(life, [20_000, exited(1, 20_000)]).state, Phase.Starting)
  })

  it('makes an instance deleted when it stops, and takes that back', () => {
    const goes = after(running, [2, change(1, { deleteOnStop: true })])
    assert.notEqual(after(goes, [3, exited(1, 3)]).deletion, undefined)
    const stays = after(goes, [3, change(2)])
    assert.equal(after(stays, [4, exited(1, 4)]).deletion, undefined)
  })

  it('lets an instance sleep that never did, and keeps one awake that did', () => {
    const sleepy = after(running, [2, change(1, { scaleToZero: onTraffic })], [3, changeTaken(1)])
    assert.equal(after(sleepy, [5, idle(1, 4)], [2_000, tick]).order?.boot, 1)
    const awake = after(sleepy, [4, change(2, { scaleToZero: noScaleToZero })])
    assert.equal(after(awake, [5, idle(1, 4)], [2_000, tick]).order, undefined)
  })

  it('counts once: a repeat, or an older one that comes later, changes nothing', () => {
    const life = after(running, [2, change(2, { restartPolicy: RestartPolicy.Always })])
    assert.deepEqual(after(life, [3, change(2)], [4, change(1)]), life)
  })

  it('is not told again to a host that launched a boot with it', () => {
    const life = after(created(), [0, start], [1, change(1)], [2, started(1, 2, 1)])
    assert.equal(workOf(life), undefined)
    assert.equal(projectionOf(life).launchedVersion, 1)
  })

  it('is told once more by a workflow that begins anew', () => {
    const rules = { autostart: false, deleteOnStop: false, restartPolicy: RestartPolicy.Never }
    const config = { version: 4, renewBelow: 0, drainMs: 0 }
    const life = newLifecycle({ ...rules, config }, { revision: 7, projection: projectionOf(running) })
    const up = after(life, [9, started(1, 1)])
    assert.deepEqual(workOf(up), tells(4, false))
  })
})

describe('a restart for a changed configuration', () => {
  const running = after(created(), [0, start], [1, started(1, 1)])
  const renewed = after(running, [2, change(1, { renewBelow: 1 })])

  it('shuts the boot down and starts the next one', () => {
    assert.equal(renewed.state, Phase.Stopping)
    assert.ok(isRenewal(renewed))
    const life = after(renewed, [3, exited(1, 3)])
    assert.deepEqual([life.state, life.boot], [Phase.Starting, 2])
    assert.equal(after(life, [4, started(2, 4, 1)]).state, Phase.Running)
  })

  it('drains first where that is asked for, and a start meanwhile changes nothing', () => {
    const life = after(running, [2, change(1, { renewBelow: 1, drainMs: 500 })])
    assert.deepEqual([life.state, life.drainUntilMs], [Phase.Draining, 502])
    assert.equal(after(life, [3, start]).state, Phase.Draining)
    const ended = after(life, [3, connectionsClosed], [4, exited(1, 4)])
    assert.deepEqual([ended.state, ended.boot], [Phase.Starting, 2])
    const late = after(life, [502, tick], [600, exited(1, 600)])
    assert.equal(late.state, Phase.Starting)
  })

  it('gives way to a stop, before and during its own', () => {
    assert.equal(after(renewed, [3, stop], [4, exited(1, 4)]).state, Phase.Stopped)
    const draining = after(running, [2, change(1, { renewBelow: 1, drainMs: 500 })], [3, stop])
    assert.equal(after(draining, [4, exited(1, 4)]).state, Phase.Stopped)
    const stopping = after(running, [2, stop], [3, change(1, { renewBelow: 1 })])
    assert.equal(after(stopping, [4, exited(1, 4)]).state, Phase.Stopped)
  })

  it('follows if the boot that comes up had been launched with the old configuration', () => {
    const life = after(created(), [0, start], [1, change(1, { renewBelow: 1 })], [2, started(1, 2)])
    assert.equal(life.state, Phase.Stopping)
    const other = after(created(), [0, start], [1, change(1, { renewBelow: 1 })], [2, started(1, 2, 1)])
    assert.equal(other.state, Phase.Running)
  })

  it('is told to the user as such', () => {
    const { life } = decide(running, change(1, { renewBelow: 1 }), 2) as { readonly life: Lifecycle }
    const [news] = newsOf(running, change(1, { renewBelow: 1 }), life)
    assert.equal(news?.why, 'it restarts, because its configuration was changed')
    const next = after(life, [3, exited(1, 3)])
    const [again] = newsOf(life, exited(1, 3), next)
    assert.match(again?.why ?? '', /it starts with its changed configuration$/)
  })
})

describe('a change of an instance that sleeps', () => {
  const stateful = { ...onTraffic, stateful: true }
  const asleep = (snapshotUuid?: string, scaleToZero: typeof onTraffic | typeof stateful = onTraffic) =>
    after(
      created({ scaleToZero }),
      [0, start],
      [1, started(1, 1)],
      [2, idle(1, 1)],
      [1_001, tick],
      [1_002, slept(1, 1_002, snapshotUuid)],
    )

  it('renews what its host kept for the wake if it sleeps without memory', () => {
    const life = after(asleep(), [1_003, change(1, { scaleToZero: onTraffic })])
    assert.deepEqual(workOf(life), tells(1, true, onTraffic))
    const taken = after(life, [1_004, changeTaken(1, true)])
    assert.deepEqual([taken.state, workOf(taken)], [Phase.Standby, undefined])
  })

  it('leaves a kept memory alone if no restart is asked for', () => {
    const life = after(asleep('memory', stateful), [1_003, change(1, { scaleToZero: stateful })])
    assert.deepEqual(workOf(life), tells(1, false, stateful))
    const taken = after(life, [1_004, changeTaken(1)])
    assert.deepEqual([taken.sleep?.snapshotUuid, workOf(taken)], ['memory', undefined])
  })

  it('drops a kept memory if a restart is asked for, and sleeps on', () => {
    const wanted = change(1, { scaleToZero: stateful, renewBelow: 1 })
    const life = after(asleep('memory', stateful), [1_003, wanted])
    assert.deepEqual(workOf(life), tells(1, true, stateful))
    const taken = after(life, [1_004, changeTaken(1, true)])
    assert.equal(taken.state, Phase.Standby)
    assert.equal(projectionOf(taken).snapshotUuid, undefined)
  })

  it('restarts it if the host had begun to wake it with the old configuration', () => {
    const wanted = change(1, { scaleToZero: stateful, renewBelow: 1 })
    const life = after(asleep('memory', stateful), [1_003, wanted], [1_004, changeTaken(1, false)])
    assert.equal(workOf(life), undefined)
    const up = after(life, [1_005, waking(2, 1_005)], [1_006, started(2, 1_006)])
    assert.equal(up.state, Phase.Stopping)
  })

  it('is applied once a boot without it has gone to sleep without memory', () => {
    const running = after(created({ scaleToZero: onTraffic }), [0, start], [1, started(1, 1)])
    const pending = after(running, [2, change(1, { scaleToZero: onTraffic })], [3, changeTaken(1)])
    const life = after(pending, [5, idle(1, 4)], [2_000, tick], [2_001, slept(1, 2_001)])
    assert.deepEqual(workOf(life), tells(1, true, onTraffic))
  })

  it('is applied to a sleeper that fell asleep while its host was told as of one that runs', () => {
    const running = after(created({ scaleToZero: onTraffic }), [0, start], [1, started(1, 1)])
    const life = after(
      running,
      [2, change(1, { scaleToZero: onTraffic })],
      [5, idle(1, 4)],
      [2_000, tick],
      [2_001, slept(1, 2_001)],
      [2_002, changeTaken(1)],
    )
    assert.deepEqual(workOf(life), tells(1, true, onTraffic))
  })

  it('reaches an instance that never ran', () => {
    const life = after(
      created({ scaleToZero: onTraffic }),
      [0, slept(0, 0)],
      [1, change(1, { scaleToZero: onTraffic })],
    )
    assert.deepEqual(workOf(life), tells(1, true, onTraffic))
  })
})

describe('the properties that wait for a restart', () => {
  const changed = { memory_mb: 2, env: 1 }
  const row = { boot: 1, snapshotUuid: null, changedProperties: changed, launchedVersion: 1 }

  it('are those that changed since the boot that runs was launched', () => {
    assert.deepEqual(pendingProperties({ ...row, state: Phase.Running }), ['memory_mb'])
    assert.deepEqual(pendingProperties({ ...row, state: Phase.Draining, launchedVersion: 0 }), [
      'env',
      'memory_mb',
    ])
  })

  it('are none where the next start has them anyway', () => {
    for (const state of [Phase.Stopped, Phase.Starting, Phase.Stopping, Phase.Standby])
      assert.deepEqual(pendingProperties({ ...row, state }), [])
    assert.deepEqual(pendingProperties({ ...row, state: Phase.Running, boot: 0 }), [])
  })

  it('are those that the kept memory lacks', () => {
    assert.deepEqual(pendingProperties({ ...row, state: Phase.Standby, snapshotUuid: 'x' }), ['memory_mb'])
  })
})
