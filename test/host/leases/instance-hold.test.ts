import assert from 'node:assert/strict'
import { programLeasePrefix } from '../../../src/domain/standby/lease-protocol.ts'
import { InstanceHold } from '../../../src/host/leases/instance-hold.ts'
import { uuid } from '../agent/machine.ts'
import { until } from '../../support/until.ts'
import { pass } from './gateway.ts'
import { boot, cold, forced, StandbyScene } from './standby-scene.ts'

const never = new AbortController().signal

describe('a program of a user, to the lease of its instance', function () {
  this.timeout(20_000)
  let scene: StandbyScene
  beforeEach(async () => {
    scene = await StandbyScene.make()
  })
  afterEach(async () => {
    await scene.remove()
  })

  const take = async (signal = never) =>
    await InstanceHold.take(scene.live.agent.leases, { instance: uuid, prefix: programLeasePrefix, signal })

  it('keeps the instance awake until it ends, however long that takes', async () => {
    await scene.running(cold)
    const { hold, boot: ofBoot } = await take()
    assert.equal(ofBoot, 1)
    pass(scene.machine, scene.live, 3_600_000)
    assert.equal(scene.hostLease.idle, undefined)
    assert.deepEqual(await scene.standBy(), { slept: false, reason: 'busy' })
    assert.equal(scene.live.agent.leases.hostLease(uuid)?.programs, 1)
    hold.release()
    pass(scene.machine, scene.live, 2_000)
    assert.equal((await scene.standBy()).slept, true)
  })

  it('wakes a sleeper, and gets the boot that came up', async () => {
    await scene.asleep(cold)
    const { hold, boot: ofBoot } = await take()
    assert.equal(ofBoot, 2)
    hold.release()
  })

  it('is refused where nothing runs and nothing may be woken', async () => {
    await scene.running(cold)
    await scene.live.agent.stop({ ...boot, ...forced })
    await assert.rejects(take(), {
      name: 'HoldRefused',
      reason: 'stopped',
      message: 'The instance is stopped.',
    })
  })

  it('does not hold up a drain, and keeps the instance awake again where that is called off', async () => {
    await scene.running(cold)
    const { hold } = await take()
    await scene.live.agent.drain(boot)
    scene.live.agent.undrain(boot)
    pass(scene.machine, scene.live, 60_000)
    assert.deepEqual(await scene.standBy(), { slept: false, reason: 'busy' })
    hold.release()
  })

  it('does not hold up a drain once it is released', async () => {
    await scene.running(cold)
    const { hold } = await take()
    hold.release()
    assert.deepEqual(scene.hostLease.leases, [])
    await scene.live.agent.drain(boot)
  })

  it('hears of the end of its boot, and does not take a drain for it', async () => {
    await scene.running(cold)
    const { hold } = await take()
    await scene.live.agent.drain(boot)
    assert.equal(hold.ended.aborted, false)
    await scene.live.agent.stop({ ...boot, ...forced })
    assert.equal(hold.ended.aborted, true)
    hold.release()
  })

  it('gives nothing to hold to a client that went away meanwhile', async () => {
    await scene.asleep(cold)
    const gone = new AbortController()
    const taking = take(gone.signal)
    gone.abort(new Error('gone'))
    await assert.rejects(taking, { message: 'gone' })
    await until('it is awake', () => scene.hostLease.phase === 'running', { limitMs: 10_000 })
    assert.equal(
      scene.hostLease.leases.some(({ status }) => status === 'held'),
      false,
    )
  })
})
