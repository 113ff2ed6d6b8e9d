import assert from 'node:assert/strict'
import { pinnedImages } from '../../../src/host/images/pinned-images.ts'
import { until } from '../../support/until.ts'
import { HeldPulls } from '../../images/held-pulls.ts'
import { Machine, uuid } from '../agent/machine.ts'
import { boot, cold, forced, StandbyScene, stateful } from '../leases/standby-scene.ts'

describe('an image of a host is in use', function () {
  this.timeout(20_000)

  describe('by an instance', () => {
    let scene: StandbyScene
    beforeEach(async () => {
      scene = await StandbyScene.make()
    })
    afterEach(async () => {
      await scene.remove()
    })
    const pinned = () => pinnedImages(scene.live.agent.entries.values())

    it('that runs, and no longer when it was stopped', async () => {
      await scene.running(cold)
      const [use, ...others] = pinned()
      const record = scene.live.agent.entries.get(uuid)?.record
      assert.deepEqual(use, { digest: record?.imageDigest, userUuid: record?.nic.userUuid })
      assert.deepEqual(others, [])
      await scene.live.agent.stop({ ...boot, ...forced })
      assert.deepEqual(pinned(), [])
    })

    for (const settings of [cold, stateful]) {
      it(`that sleeps ${settings.stateful ? 'with its memory' : 'cold'}, and no longer when it was stopped`, async () => {
        await scene.asleep(settings)
        assert.equal(pinned().length, 1)
        await scene.live.agent.stop({ instanceUuid: uuid, boot: 2, ...forced })
        assert.deepEqual(pinned(), [])
      })
    }
  })

  it('by an instance that is being started, and no longer when that failed', async () => {
    const machine = await Machine.make()
    try {
      const pulls = new HeldPulls()
      const { agent } = await machine.readyAgent({ images: { pull: pulls.pull } })
      const start = agent.start({ instanceUuid: uuid, boot: 1 })
      start.catch(() => undefined)
      await pulls.begun()
      // Its record is written beside the pull.
      await until('it is known', () => agent.entries.get(uuid)?.record !== undefined, { limitMs: 10_000 })
      assert.equal(pinnedImages(agent.entries.values()).length, 1)
      pulls.fail(new Error('the registry is gone'))
      await assert.rejects(start)
      assert.deepEqual(pinnedImages(agent.entries.values()), [])
    } finally {
      await machine.remove()
    }
  })
})
