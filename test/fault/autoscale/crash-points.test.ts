import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { dieBesideEachOther } from '../deaths.ts'
import { openAutoscaleCrashScene } from './crash-scene.ts'
import type { AutoscaleCrashScene, CrashService, CrashWorker } from './crash-scene.ts'

/**
 * Points in the order of the steps. The moment after one step is also the moment before the next one. The
 * first transaction looks and gives back; each other transaction adds one instance.
 */
const growing = [
  'alignService 1, before',
  'transaction 1, after',
  'transaction 2, before',
  'transaction 2, after',
  'transaction 3, after',
  'ensureStarted 1, before',
  'ensureStarted 2, after',
  'update instances 1, after',
  'alignService 1, after',
] as const
const shrinking = [
  'alignService 1, before',
  'transaction 1, before',
  'transaction 1, after',
  'retire 1, before',
  'retire 2, after',
  'alignService 1, after',
] as const
const closing = [
  'closeAutoscale 1, before',
  'transaction 1, after',
  'retire 1, before',
  'retire 2, after',
  'start 1, before',
  'start 1, after',
  'delete autoscale_configurations 1, before',
  'delete autoscale_configurations 1, after',
  'closeAutoscale 1, after',
] as const
const atOnce = 4
/**
 * A worker may give up a call on a slow server although the call did its work. The point behind that call is
 * then never passed, and the life ends well without a death. In that case another life is tried.
 */
const deathLimitMs = 90_000
const livesTried = 4

class Undead extends Error {}
const size = 3

describe('autoscale whose worker dies once, with -9,', function () {
  this.timeout(900_000)
  let scene: AutoscaleCrashScene
  let outcomes: ReadonlyMap<string, Promise<void>>
  const stories = [
    ...growing.map((point) => ({ name: `growing, at "${point}"`, live: () => grow(point) })),
    ...shrinking.map((point) => ({ name: `shrinking, at "${point}"`, live: () => shrink(point) })),
    ...closing.map((point) => ({ name: `closing, at "${point}"`, live: () => close(point) })),
  ]

  before(async () => {
    scene = await openAutoscaleCrashScene()
    outcomes = dieBesideEachOther(stories, atOnce)
  })
  after(() => scene?.close())

  async function withService(lived: (service: CrashService) => Promise<void>): Promise<void> {
    for (let tried = 1; ; tried++) {
      const service = await scene.newService()
      try {
        return await lived(service)
      } catch (error) {
        if (!(error instanceof Undead) || tried === livesTried) throw error
      } finally {
        await service.close()
      }
    }
  }

  async function dies(victim: CrashWorker): Promise<void> {
    const limit = new AbortController()
    const late = delay(deathLimitMs, true, { signal: limit.signal }).catch(() => false)
    const isLate = await Promise.race([victim.died.then(() => false), late])
    limit.abort()
    if (isLate) throw new Undead('its worker did not come by the point where it should die')
  }

  const grow = (point: string): Promise<void> =>
    withService(async (service) => {
      const victim = service.startWorker(size, point)
      await service.begin()
      await dies(victim)
      service.startWorker(size)
      await service.runs(size)
      assert.deepEqual(await service.decided(), { added: size - 1, givenBack: 0 })
      assert.equal(service.virtualMachines(), size)
    })

  /** Waits until all instances run, then ends the worker, so that nobody changes that. */
  async function grown(service: CrashService): Promise<void> {
    const first = service.startWorker(size)
    await service.begin()
    await service.runs(size)
    await first.end()
  }

  const shrink = (point: string): Promise<void> =>
    withService(async (service) => {
      await grown(service)
      const victim = service.startWorker(1, point)
      await dies(victim)
      service.startWorker(1)
      await service.runs(1)
      assert.equal((await service.instances())[0]?.isClone, false)
      assert.deepEqual(await service.decided(), { added: size - 1, givenBack: size - 1 })
      assert.equal(service.virtualMachines(), 1)
    })

  const close = (point: string): Promise<void> =>
    withService(async (service) => {
      const first = service.startWorker(size)
      await service.begin()
      await service.runs(size)
      await service.stopMaster()
      await first.end()
      const victim = service.startWorker(size, point)
      await service.unconfigure()
      await dies(victim)
      service.startWorker(size)
      await service.isUnconfigured()
      await service.runs(1)
      assert.equal((await service.instances())[0]?.isClone, false)
      const { added, givenBack } = await service.decided()
      // The first worker may have seen that the master is stopped before the test ended that worker. It then
      // added one clone that stands in for the master.
      assert.ok(added === size - 1 || added === size, `${added} were added`)
      assert.equal(givenBack, added)
      assert.equal(service.virtualMachines(), 1)
    })

  for (const { name } of stories) {
    it(`${name}: there are as many instances as there should be, and no stray`, () => outcomes.get(name))
  }
})
