import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { FileVolumes } from '../../../src/host/volumes/file-volumes.ts'
import { imagePath } from '../../../src/host/volumes/volume-directory.ts'
import { VolumeError } from '../../../src/host/volumes/volumes.ts'
import { until } from '../../support/until.ts'
import { holdOf, instanceUuid, volumeUuid } from './conformance.ts'
import { debugFs, lookOver, overwrite } from './image.ts'

const uuid = volumeUuid(1)
/** The bound of the loop over the points. No task has as many. */
const maxPoints = 60
const freeLimitMs = 10_000

/**
 * Runs the task in a process that kills itself at the given point. Returns the point's name; undefined if
 * the task has fewer points and came to its end.
 */
async function runVictim(point: number, directory: string, task: string): Promise<string | undefined> {
  const victim = path.join(import.meta.dirname, 'victim.ts')
  return await new Promise((resolve, reject) => {
    execFile(process.execPath, [victim, String(point), directory, task], (error, stdout, stderr) => {
      if (error === null) resolve(undefined)
      else if (error.signal === 'SIGKILL') resolve(stdout)
      else reject(new Error(`the victim failed by itself: ${stderr}`, { cause: error }))
    })
  })
}

/**
 * Repeats the work while the volume is in use, as callers of `Volumes` do: a check that a dead agent had
 * begun ends with the agent, but not in the same instant.
 */
async function onceFree(work: () => Promise<void>): Promise<void> {
  const attempt = async (): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      if (error instanceof VolumeError && error.failure === 'VolumeInUse') return false
      throw error
    }
  }
  await until('the volume is free', attempt, { limitMs: freeLimitMs })
}

describe('Volumes of an agent that is killed', function () {
  this.timeout(300_000)
  let base: string
  beforeEach(async () => {
    base = await mkdtemp(path.join(tmpdir(), 'roost-volumes-crash-'))
  })
  afterEach(async () => {
    await rm(base, { recursive: true, force: true })
  })

  /**
   * Kills a new agent at each of the task's points, each time on a copy of what `prepare` left. Returns the
   * points.
   */
  async function atEachPoint(
    task: string,
    prepare: (volumes: FileVolumes, directory: string) => Promise<void>,
    verify: (volumes: FileVolumes, directory: string) => Promise<void>,
  ): Promise<readonly string[]> {
    const start = path.join(base, 'start')
    const prepared = await FileVolumes.open({ directory: start, reserveMb: 0 })
    await prepare(prepared, start)
    const points: string[] = []
    for (let point = 1; point <= maxPoints; point += 1) {
      const directory = path.join(base, String(point))
      await cp(start, directory, { recursive: true, preserveTimestamps: true })
      const name = await runVictim(point, directory, task)
      const next = await FileVolumes.open({ directory, reserveMb: 0 })
      try {
        await onceFree(() => verify(next, directory))
      } catch (error) {
        throw new Error(`killed at ${task}'s point ${String(point)}, ${name ?? 'its end'}`, { cause: error })
      } finally {
        await next.close()
        await rm(directory, { recursive: true })
      }
      if (name === undefined) return points
      points.push(name)
    }
    throw new Error(`${task} has more than ${String(maxPoints)} points`)
  }

  async function assertSound(directory: string): Promise<void> {
    const image = imagePath(directory, uuid)
    assert.equal((await stat(image)).size, 8 * 1024 * 1024)
    const { code, said } = await lookOver(image)
    assert.equal(code, 0, said)
  }

  const marked = async (volumes: FileVolumes, directory: string): Promise<void> => {
    await volumes.make({ uuid, sizeMb: 8 })
    await debugFs(imagePath(directory, uuid), 'mkdir mark')
  }
  const hasMark = async (directory: string): Promise<boolean> =>
    (await debugFs(imagePath(directory, uuid), 'stat mark')).includes('Type: directory')

  it('while it makes one are complete, or are made again', async () => {
    const points = await atEachPoint(
      'make',
      async () => {
        await Promise.resolve()
      },
      async (volumes, directory) => {
        const left = await readdir(directory)
        assert.ok(
          left.every((name) => name === uuid),
          left.join(),
        )
        if (left.length > 0) await assertSound(directory)
        await volumes.make({ uuid, sizeMb: 8 })
        await assertSound(directory)
        assert.deepEqual(await readdir(directory), [uuid])
      },
    )
    for (const name of ['mkdir', 'truncate', 'spawn', 'spawned', 'sync', 'rename'])
      assert.ok(points.includes(name), `${name} is not among ${points.join()}`)
  })

  it('while it gives one to an instance are held by that instance or by nobody', async () => {
    const points = await atEachPoint('hold', marked, async (volumes, directory) => {
      const holds = await volumes.holds()
      assert.ok(holds.length === 0 || holds[0]?.instanceUuid === instanceUuid(1))
      await volumes.hold(holdOf(1, 1))
      await volumes.release(instanceUuid(1))
      await volumes.hold(holdOf(1, 2))
      await assertSound(directory)
      assert.ok(await hasMark(directory))
    })
    for (const name of ['spawned', 'writeFile', 'rename', 'sync'])
      assert.ok(points.includes(name), `${name} is not among ${points.join()}`)
  })

  it('while it takes them back can be taken back again', async () => {
    const points = await atEachPoint(
      'release',
      async (volumes, directory) => {
        await marked(volumes, directory)
        await volumes.hold(holdOf(1, 1))
      },
      async (volumes, directory) => {
        await volumes.release(instanceUuid(1))
        await volumes.hold(holdOf(1, 2))
        assert.ok(await hasMark(directory))
      },
    )
    assert.ok(points.includes('rm'))
  })

  it('while it repairs one can be repaired', async () => {
    const points = await atEachPoint(
      'repair',
      async (volumes, directory) => {
        await volumes.make({ uuid, sizeMb: 8 })
        await overwrite(imagePath(directory, uuid), 'inode-table')
      },
      async (volumes, directory) => {
        await volumes.repair(uuid)
        await assertSound(directory)
      },
    )
    assert.ok(points.includes('spawned'))
  })

  it('while it removes one are whole, or never come back and are removed in the end', async () => {
    const points = await atEachPoint('remove', marked, async (volumes, directory) => {
      if ((await volumes.uuids()).length > 0) assert.ok(await hasMark(directory))
      await volumes.remove(uuid)
      assert.deepEqual(await readdir(directory), [])
    })
    for (const name of ['rename', 'spawned', 'write', 'datasync', 'truncate', 'rm'])
      assert.ok(points.includes(name), `${name} is not among ${points.join()}`)
  })

  it('while one arrives have all of it, for its instance, or nothing', async () => {
    const points = await atEachPoint(
      'arrive',
      async (volumes, directory) => {
        await volumes.make({ uuid: volumeUuid(2), sizeMb: 8 })
        await debugFs(imagePath(directory, volumeUuid(2)), 'mkdir mark')
      },
      async (volumes, directory) => {
        const isHere = (await volumes.uuids()).includes(uuid)
        const waits = (await volumes.arrived()).includes(uuid)
        assert.ok(!isHere || !waits)
        if (!isHere && !waits) {
          await volumes.beginArrival({ uuid, sizeMb: 8 })
          await volumes.cancelArrival(uuid)
          await until('nothing is left', async () => (await readdir(directory)).length === 1, {
            limitMs: freeLimitMs,
          })
          return
        }
        await volumes.takeArrival(uuid, { isHeld: true })
        assert.deepEqual(await volumes.holds(), [{ volumeUuid: uuid, instanceUuid: instanceUuid(1) }])
        await volumes.hold(holdOf(1, 1))
        await assertSound(directory)
        assert.ok(await hasMark(directory))
      },
    )
    for (const name of ['mkdir', 'truncate', 'write', 'sync', 'writeFile', 'rename'])
      assert.ok(points.includes(name), `${name} is not among ${points.join()}`)
  })

  for (const [task, what, isThere] of [
    ['give-away', 'gives one away', async (volumes: FileVolumes) => await volumes.uuids()],
    ['drop', 'drops what arrived', async (volumes: FileVolumes) => await volumes.arrived()],
  ] as const)
    it(`while it ${what} are whole, or never come back and are overwritten in the end`, async () => {
      const points = await atEachPoint(
        task,
        async (volumes, directory) => {
          await marked(volumes, directory)
          await volumes.hold(holdOf(1, 1))
          if (task === 'give-away') return
          const content = await readFile(imagePath(directory, uuid))
          await volumes.giveAway(uuid, instanceUuid(1))
          await volumes.remove(uuid)
          await writeFile(await volumes.beginArrival({ uuid, sizeMb: 8 }), content)
          await volumes.finishArrival(uuid, instanceUuid(1))
        },
        async (volumes, directory) => {
          if ((await isThere(volumes)).length > 0) {
            if (task === 'drop') await volumes.takeArrival(uuid, { isHeld: true })
            assert.ok(await hasMark(directory))
            assert.equal((await volumes.holds())[0]?.instanceUuid, instanceUuid(1))
          }
          await volumes.giveAway(uuid, instanceUuid(1))
          await until('nothing is left', async () => (await readdir(directory)).length === 0, {
            limitMs: freeLimitMs,
          })
        },
      )
      for (const name of ['rename', 'spawned', 'write', 'datasync', 'truncate', 'rm'])
        assert.ok(points.includes(name), `${name} is not among ${points.join()}`)
    })
})
