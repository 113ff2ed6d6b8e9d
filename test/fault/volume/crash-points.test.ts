import assert from 'node:assert/strict'
import { dieBesideEachOther } from '../deaths.ts'
import { openCrashScene } from './crash-scene.ts'
import type { CrashHost, CrashScene } from './crash-scene.ts'

/**
 * Points of death of an agent. These are only some of the calls of the kernel; another test tries every
 * single one.
 */
const makingPoints = [
  'makeVolume 1, before',
  'makeVolume: mkdir',
  'makeVolume: truncate',
  'makeVolume: spawn',
  'makeVolume: sync',
  'makeVolume: rename',
  'makeVolume 1, after',
] as const
const removingPoints = [
  'removeVolume 1, before',
  'removeVolume: rename',
  'removeVolume: write',
  'removeVolume: rm',
  'removeVolume 1, after',
] as const
/**
 * Points of death of the worker, before and after its writes. Temporal does not learn whether such a write
 * was done.
 */
const recordingPoints = [
  'recordVolume 1, before',
  'recordVolume 1, after',
  'recordVolume 2, before',
  'recordVolume 2, after',
] as const
const rowPoints = ['deleteVolumeRow 1, before', 'deleteVolumeRow 1, after'] as const
const atOnce = 4

describe('a volume whose agent or worker dies once, with -9,', function () {
  this.timeout(600_000)
  let scene: CrashScene
  before(async () => {
    scene = await openCrashScene()
  })
  after(() => scene?.close())

  async function deathInMaking(point: string): Promise<void> {
    const host = await scene.newHost()
    const victim = await host.startAgent(point)
    await host.create()
    await victim.died
    const left = await host.complete()
    assert.equal(
      left !== undefined,
      point === 'makeVolume 1, after',
      'it is complete exactly when it is made',
    )
    await host.startAgent()
    await host.isReady()
    if (left !== undefined) assert.equal(await host.complete(), left, 'what stood complete was made again')
    await host.delete()
    await host.isGone()
  }

  async function deathInRemoving(point: string): Promise<void> {
    const host = await scene.newHost()
    const victim = await host.startAgent(point)
    await host.create()
    await host.isReady()
    await host.delete()
    await victim.died
    await host.startAgent()
    await host.isGone()
  }

  describe('its agent', () => {
    let outcomes: ReadonlyMap<string, Promise<void>>
    before(async () => {
      await scene.startWorker()
      const deaths = [
        ...makingPoints.map((name) => ({ name, live: () => deathInMaking(name) })),
        ...removingPoints.map((name) => ({ name, live: () => deathInRemoving(name) })),
      ]
      outcomes = dieBesideEachOther(deaths, atOnce)
    })

    for (const point of makingPoints) {
      it(`at "${point}": is made to the end or made again, once`, () => outcomes.get(point))
    }
    for (const point of removingPoints) {
      it(`at "${point}": is removed to the end`, () => outcomes.get(point))
    }
  })

  describe('its worker', () => {
    let host: CrashHost
    beforeEach(async () => {
      await scene.endParts()
      host = await scene.newHost()
      await host.startAgent()
    })

    for (const point of recordingPoints) {
      it(`at "${point}": is made once, and its row says so`, async () => {
        const victim = await scene.startWorker(point)
        await host.create()
        await victim.died
        const left = await host.complete()
        await scene.startWorker()
        await host.isReady()
        if (left !== undefined)
          assert.equal(await host.complete(), left, 'what stood complete was made again')
      })
    }
    for (const point of rowPoints) {
      it(`at "${point}": is removed, and so is its row`, async () => {
        const victim = await scene.startWorker(point)
        await host.create()
        await host.isReady()
        await host.delete()
        await victim.died
        await scene.startWorker()
        await host.isGone()
      })
    }
  })

  it('that is deleted while agent and worker are away is removed by the next ones', async () => {
    await scene.endParts()
    const host = await scene.newHost()
    await host.create()
    await host.delete()
    await scene.startWorker()
    await host.startAgent()
    await host.isGone()
  })
})
