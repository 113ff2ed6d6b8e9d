import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LaunchSpec } from '../../../src/domain/host/api-protocol.ts'
import { ImageError } from '../../../src/host/images/images.ts'
import { seen, TestGateway } from '../leases/gateway.ts'
import { instance, MoveScene, oldPlace, slept } from './move-scene.ts'
import { uuid } from './machine.ts'

const recordOf = ({ newLive }: MoveScene) => newLive.agent.entries.get(uuid)?.record
const launchOf = ({ newLive }: MoveScene) => newLive.agent.entries.get(uuid)?.launch

/** The old host tells another launch spec than the API. */
function lie({ oldLive }: MoveScene, lies: Partial<LaunchSpec>): void {
  const entry = oldLive.agent.entries.get(uuid)
  assert.ok(entry?.launch !== undefined)
  entry.launch = { ...entry.launch, spec: { ...entry.launch.spec, ...lies } }
}

describe('an old host that lies to the new one', function () {
  this.timeout(60_000)
  let scene: MoveScene

  beforeEach(async () => {
    scene = await MoveScene.make()
  })
  afterEach(async () => {
    await scene.remove()
  })

  for (const [what, lies] of [
    ['image', { image: `evil/app@sha256:${'6'.repeat(64)}` }],
    ['size', { memoryMb: 4_096 }],
    ['number of processors', { vcpus: 7 }],
  ] as const)
    it(`about the ${what} does not decide what is launched: the wake begins afresh`, async () => {
      await scene.asleep()
      const port = await scene.hold()
      lie(scene, { ...lies, configVersion: 9, env: { EVIL: 'yes' } })
      await scene.openNew()
      assert.deepEqual(await scene.fetch(port), { memory: 'kept' })
      scene.moveRow()
      await scene.newLive.agent.moves.take(instance)
      const { store } = scene.newLive.ports
      assert.equal(existsSync(join(store.directory(uuid), 'snapshot')), false)
      assert.deepEqual([launchOf(scene), await store.loadLaunch(uuid)], [undefined, undefined])
      const opened = await new TestGateway(scene.newLive).connect().opened()
      assert.deepEqual([opened.memoryBoot, opened.woken?.kind], [2, 'boot'])
      const told = scene.new.specs.get(uuid)
      const { spec, image } = launchOf(scene) ?? {}
      assert.deepEqual(
        [spec?.image, spec?.memoryMb, spec?.vcpus, spec?.env],
        [told?.image, told?.memoryMb, told?.vcpus, told?.env],
      )
      assert.equal(image?.digest, told?.image.split('@')[1])
      assert.equal(recordOf(scene)?.imageDigest, image?.digest)
    })

  it('about the environment and the arguments is not believed, whatever version it names', async () => {
    for (const configVersion of [undefined, 1, 9]) {
      await scene.asleep()
      const port = await scene.hold()
      lie(scene, { env: { EVIL: 'yes' }, args: ['evil'], ...(configVersion && { configVersion }) })
      await scene.openNew()
      await scene.fetch(port)
      scene.moveRow()
      const told = { ...scene.spec, configVersion: 3 }
      scene.new.specs.set(uuid, told)
      await scene.newLive.agent.moves.take(instance)
      const kept = configVersion === 9 ? 3 : configVersion
      const { spec } = launchOf(scene) ?? {}
      assert.deepEqual([spec?.env, spec?.args, spec?.configVersion], [told.env, told.args, kept])
      await scene.remove()
      scene = await MoveScene.make()
    }
  })

  it('and never ends what it tells does not keep the new one from fetching from others', async () => {
    const { agent, ports } = await scene.openNew()
    const { transfers } = ports
    assert.ok(transfers !== undefined)
    const asked: string[] = []
    transfers.copyOf = async ({ nodeId }, _, signal) => {
      asked.push(nodeId)
      return await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('called off')), { once: true })
      })
    }
    const uuids = [1, 2, 3, 4, 5].map((digit) => `00000000-0000-4000-8000-00000000010${digit}`)
    const fetches = uuids.map(async (instanceUuid, index) => {
      const from = index < 4 ? oldPlace : { nodeId: 'good', address: '127.0.0.9' }
      await agent.moves.fetch({ ...slept, instanceUuid, from: { ...from, port: 1 } })
    })
    await seen('the good host is asked', () => asked.includes('good'))
    assert.deepEqual(asked.toSorted(), ['good', 'old', 'old'])
    const ended = Promise.allSettled(fetches)
    await Promise.all(uuids.map(async (each) => await agent.moves.callOff(each)))
    await ended
  })

  it('with many words gets few of them into failures and into why a memory does not fit', async () => {
    const long = 'blah '.repeat(100_000)
    await scene.asleep()
    const port = await scene.hold()
    const live = await scene.openNew()
    const { transfers, vmm } = live.ports
    assert.ok(transfers !== undefined)
    const bare = await transfers.copyOf({ ...oldPlace, port }, uuid, AbortSignal.timeout(10_000))
    const isShort = (error: unknown): boolean => {
      assert.ok(error instanceof Error)
      assert.ok(error.message.length <= 300, String(error.message.length))
      return true
    }
    const tell = (copy: unknown): void => {
      transfers.copyOf = async () => await Promise.resolve(copy as typeof bare)
    }
    const file = { name: 'usage.ring', bytes: long as unknown as number }
    for (const copy of [
      { ...bare, files: [file] },
      { ...bare, holdUuid: long },
      { ...bare, version: 3 },
      { ...bare, record: undefined },
      null,
    ]) {
      tell(copy)
      await assert.rejects(scene.fetch(port), (error) => {
        assert.match(String(error), /what host old has can not be used/)
        return isShort(error)
      })
    }
    const { prepare } = live.ports.images
    const failed = new ImageError('ImageUnavailable', long)
    live.ports.images.prepare = async () => await Promise.reject(failed)
    tell(bare)
    await assert.rejects(scene.fetch(port), isShort)
    live.ports.images.prepare = prepare
    vmm.snapshots.misfitOf = () => long
    const { memory, why = '' } = (await scene.fetch(port)) as { memory: string; why?: string }
    assert.deepEqual([memory, why.length, why.slice(0, 10)], ['unfit', 300, long.slice(0, 10)])
  })
})
