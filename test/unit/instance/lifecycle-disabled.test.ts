import { strict as assert } from 'node:assert'
import { EventKind, Phase } from '../../../src/domain/instance/lifecycle-state.ts'
import type { LifecycleEvent } from '../../../src/domain/instance/lifecycle-state.ts'
import { effectsOf } from '../../../src/domain/instance/lifecycle-effects.ts'
import { projectionOf } from '../../../src/domain/instance/lifecycle-projection.ts'
import { snapshotRetryMs } from '../../../src/domain/instance/lifecycle-standby.ts'
import { after, created, disabled, idle, onTraffic, started } from './lifecycle-life.ts'

describe('an instance that speaks against standby', () => {
  const scaleToZero = onTraffic
  const running = after(created({ scaleToZero, autostart: true }), [100, started(1, 100)])
  const refusedAsDisabled: LifecycleEvent = {
    kind: EventKind.StandByRefused,
    boot: 1,
    epoch: 1,
    reason: 'disabled',
  }

  it('is not asked to stand by while that lasts', () => {
    const life = after(running, [200, idle(1, 200)], [300, disabled(1)])
    assert.deepEqual([life.order, effectsOf(life).wakeAtMs], [undefined, undefined])
    assert.equal(effectsOf(after(life, [400, disabled(1, false)])).wakeAtMs, 200 + scaleToZero.cooldownMs)
  })

  it('counts as permitting standby once its host reports it idle, even if an older report came later', () => {
    const life = after(running, [200, disabled(1, false)], [210, disabled(1)], [9_000, idle(1, 400, 2)])
    assert.equal(projectionOf(life).standbyDisabled, undefined)
    assert.deepEqual([life.state, life.order?.epoch], [Phase.Running, 2])
  })

  it('counts as such when its host refuses an order for that reason, although no event said so', () => {
    const ordered = after(running, [200, idle(1, 200)], [5_000, { kind: EventKind.Tick }])
    assert.equal(ordered.order?.epoch, 1)
    const life = after(ordered, [5_100, refusedAsDisabled])
    assert.equal(projectionOf(life).standbyDisabled, true)
    assert.equal(life.order, undefined)
  })
})

describe('an instance whose host could not keep its memory', () => {
  const scaleToZero = { ...onTraffic, stateful: true }
  const running = after(created({ scaleToZero, autostart: true }), [100, started(1, 100)])
  const ordered = after(running, [200, idle(1, 200)], [5_000, { kind: EventKind.Tick }])

  for (const reason of ['snapshot-failed', 'no-room'] as const) {
    it(`is asked to stand by again after a minute and not before: ${reason}`, () => {
      const refusal: LifecycleEvent = { kind: EventKind.StandByRefused, boot: 1, epoch: 1, reason }
      const life = after(
        ordered,
        [5_100, refusal],
        [5_200, idle(1, 5_100, 2)],
        [9_000, { kind: EventKind.Tick }],
      )
      assert.deepEqual([life.state, life.order], [Phase.Running, undefined])
      assert.equal(effectsOf(life).wakeAtMs, 5_100 + snapshotRetryMs)
      assert.equal(after(life, [5_100 + snapshotRetryMs, { kind: EventKind.Tick }]).order?.epoch, 2)
    })
  }
})
