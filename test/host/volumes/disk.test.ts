import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { FileVolumes } from '../../../src/host/volumes/file-volumes.ts'
import { imagePath } from '../../../src/host/volumes/volume-directory.ts'
import { eraseFile, parseExtents } from '../../../src/host/volumes/volume-erase.ts'
import type { VolumeRoom } from '../../../src/host/volumes/volumes.ts'
import { until } from '../../support/until.ts'
import { fails, holdOf, volumeUuid } from './conformance.ts'
import { debugFs, lookOver, superblockOf, writeAt } from './image.ts'

const run = promisify(execFile)
const uuid = volumeUuid(1)
const mib = 1024 * 1024
const isRoot = process.getuid?.() === 0

describe('Volumes on the disk', function () {
  this.timeout(60_000)
  let base: string
  let directory: string
  const opened: FileVolumes[] = []
  const openVolumes = async (onProblem?: (message: string) => void): Promise<FileVolumes> => {
    const volumes = await FileVolumes.open({
      directory,
      reserveMb: 0,
      ...(onProblem === undefined ? {} : { onProblem }),
    })
    opened.push(volumes)
    return volumes
  }

  beforeEach(async () => {
    base = await mkdtemp(path.join(tmpdir(), 'roost-volumes-'))
    directory = path.join(base, 'volumes')
  })
  afterEach(async () => {
    for (const volumes of opened.splice(0)) await volumes.close()
    await rm(base, { recursive: true, force: true })
  })

  describe('a new one', () => {
    it('is an empty ext4 file system that takes almost no room', async () => {
      const volumes = await openVolumes()
      await volumes.make({ uuid, sizeMb: 1_024 })
      const image = imagePath(directory, uuid)
      const { size, blocks } = await stat(image)
      assert.equal(size, 1_024 * mib)
      assert.ok(blocks * 512 < 2 * mib, `${String(blocks * 512)} bytes`)
      const superblock = await superblockOf(image)
      assert.match(superblock, new RegExp(`Filesystem UUID: +${uuid}`))
      assert.match(superblock, /Errors behavior: +Remount read-only/)
      assert.match(superblock, /Reserved block count: +0\n/)
      assert.match(superblock, /has_journal/)
      const { code, said } = await lookOver(image)
      assert.equal(code, 0, said)
    })

    it('has no lost+found, also after the checks of its first starts', async () => {
      const volumes = await openVolumes()
      await volumes.make({ uuid, sizeMb: 8 })
      await volumes.hold(holdOf(1, 1))
      await volumes.hold(holdOf(1, 1))
      assert.doesNotMatch(await debugFs(imagePath(directory, uuid), 'ls'), /lost/)
    })

    it('of the least size has a journal and leaves most of it to its owner', async () => {
      const volumes = await openVolumes()
      await volumes.make({ uuid, sizeMb: 8 })
      const superblock = await superblockOf(imagePath(directory, uuid))
      assert.match(superblock, /has_journal/)
      const free = Number(/^Free blocks: +(\d+)/m.exec(superblock)?.[1])
      const blockBytes = Number(/^Block size: +(\d+)/m.exec(superblock)?.[1])
      assert.ok(free * blockBytes > 6 * mib, superblock)
    })

    it('belongs to a user of its own, in a directory that nobody else enters', async function () {
      if (!isRoot) this.skip()
      const volumes = await openVolumes()
      await Promise.all([1, 2].map(async (n) => volumes.make({ uuid: volumeUuid(n), sizeMb: 8 })))
      const files = await Promise.all([1, 2].map(async (n) => stat(imagePath(directory, volumeUuid(n)))))
      const [one, two] = files
      assert.ok(one !== undefined && two !== undefined)
      assert.deepEqual([one.mode & 0o777, one.gid, one.uid >>> 24], [0o600, one.uid, 0x50])
      assert.notEqual(one.uid, two.uid)
      assert.equal((await stat(path.join(directory, uuid))).mode & 0o777, 0o700)
      assert.equal((await stat(directory)).mode & 0o777, 0o700)
    })

    it('is never made of a name that is no UUID', async () => {
      const volumes = await openVolumes()
      await assert.rejects(volumes.make({ uuid: '../x', sizeMb: 8 }), TypeError)
      await assert.rejects(volumes.remove('x/../../y'), TypeError)
    })
  })

  it('work without root too, all as one user', async function () {
    if (!isRoot) this.skip()
    await chmod(base, 0o755)
    await mkdir(directory)
    await chown(directory, 65_534, 65_534)
    const script = `
      const { FileVolumes } = await import(${JSON.stringify(path.join(import.meta.dirname, '../../../src/host/volumes/file-volumes.ts'))})
      const volumes = await FileVolumes.open({ directory: ${JSON.stringify(directory)}, reserveMb: 0 })
      const uuid = ${JSON.stringify(uuid)}
      await volumes.make({ uuid, sizeMb: 8 })
      await volumes.hold({ uuid, instanceUuid: 'one', readonly: false, continues: false })
      await volumes.release('one')
      await volumes.repair(uuid)
      await volumes.remove(uuid)
      await volumes.close()`
    const as = [
      '--reuid',
      '65534',
      '--regid',
      '65534',
      '--clear-groups',
      '--bounding-set=-all',
      '--inh-caps=-all',
    ]
    await run('setpriv', [...as, process.execPath, '--input-type=module', '-e', script])
    assert.deepEqual(await readdir(directory), [])
  })

  describe('erasing', () => {
    /** A signal that is aborted when it is read the nth time. */
    const abortedAt = (look: number): AbortSignal => {
      const given = new AbortController()
      let looks = 0
      given.signal.throwIfAborted = () => {
        looks += 1
        if (looks === look) throw new Error('enough')
      }
      return given.signal
    }

    for (const [where, place] of [
      ['where the file system tells what was written', tmpdir()],
      ['where it does not', '/dev/shm'],
    ] as const)
      it(`overwrites from the end, ${where}`, async () => {
        const file = path.join(place, `roost-erase-${String(process.pid)}`)
        await writeFile(file, Buffer.alloc(12 * mib, 7))
        try {
          const looks = 1 + 3
          await assert.rejects(eraseFile({ uuid, path: file, signal: abortedAt(looks) }), /enough/)
          const left = await readFile(file)
          assert.ok(left.subarray(0, 4 * mib).every((byte) => byte === 7))
          assert.ok(left.subarray(4 * mib).every((byte) => byte === 0))
          await eraseFile({ uuid, path: file })
          assert.equal((await stat(file)).size, 0)
        } finally {
          await rm(file, { force: true })
        }
      })

    it('skips holes, so that a large empty volume is erased at once and takes no room meanwhile', async () => {
      const file = path.join(base, 'sparse')
      const handle = await open(file, 'w')
      await handle.truncate(64 * 1024 * mib)
      await handle.close()
      await writeAt(file, Buffer.alloc(4_096, 1), 32 * 1024 * mib)
      // The signal is read once before the map, and once for the only piece that has data. If a hole were
      // erased too, the third read would abort.
      await eraseFile({ uuid, path: file, signal: abortedAt(3) })
      assert.equal((await stat(file)).size, 0)
    })

    it('that was cut off goes on when the next agent opens', async () => {
      const volumes = await openVolumes()
      await volumes.make({ uuid, sizeMb: 16 })
      await writeAt(imagePath(directory, uuid), Buffer.alloc(10 * mib, 7), 0)
      // The signal is read once by the turn, once by the map and once for each piece of 4 MiB. So the second
      // piece is not erased.
      await assert.rejects(volumes.remove(uuid, abortedAt(4)), /enough/)
      assert.deepEqual(await readdir(directory), [`${uuid}.erasing`])
      assert.equal((await volumes.room()).promisedMb, 16)
      await assert.rejects(volumes.hold(holdOf(1, 1)), fails('VolumeUnusable'))
      await openVolumes()
      await until('it is erased', async () => (await readdir(directory)).length === 0, { limitMs: 30_000 })
    })

    it('reads extents from the output of filefrag, and gives up on any other form', () => {
      const printed = (lines: string, count: number): string =>
        ` ext:     logical_offset:        physical_offset: length:   expected: flags:\n${lines}\nx: ${String(count)} extents found\n`
      assert.deepEqual(
        parseExtents(
          printed('   0:        0..       1:  5..  6: 2:\n   1:        4..       9:  5..  6: 2: 7: last', 2),
          30_000,
        ),
        [
          { start: 0, end: 8_192 },
          { start: 16_384, end: 30_000 },
        ],
      )
      assert.deepEqual(parseExtents(printed('', 0), 30_000), [])
      assert.equal(parseExtents(printed('', 3), 30_000), undefined)
      assert.equal(
        parseExtents(printed('   0: 4.. 5: 1.. 2: 2:\n   1: 0.. 1: 3.. 4: 2:', 2), 30_000),
        undefined,
      )
      assert.equal(parseExtents('', 30_000), undefined)
    })
  })

  it('that are unfinished are deleted when an agent opens them; files that are not ours stay', async () => {
    await mkdir(path.join(directory, `${uuid}.new`), { recursive: true })
    await mkdir(path.join(directory, 'lost+found'))
    await writeFile(path.join(directory, 'note.txt'), '')
    const volumes = await openVolumes()
    assert.deepEqual((await readdir(directory)).toSorted(), ['lost+found', 'note.txt'])
    assert.deepEqual(await volumes.uuids(), [])
  })

  describe('that is small', () => {
    it('promises only the room that it has, says that it is full, and keeps no data of a removed volume', async function () {
      if (!isRoot) this.skip()
      const disk = path.join(base, 'disk')
      await run('truncate', ['-s', '64M', disk])
      await run('mke2fs', ['-q', '-F', '-m', '0', '-b', '4096', disk])
      const at = path.join(base, 'mounted')
      await mkdir(at)
      const mark = `of a volume ${String(Math.random())}`
      const plainMark = `of a plain file ${String(Math.random())}`
      const script = path.join(import.meta.dirname, 'small-disk.ts')
      const inside = 'mount -o loop "$1" "$2" && exec "$3" "$4" "$2" "$5" "$6"'
      const shell = ['--mount', '--propagation', 'private', 'sh', '-c', inside, 'sh']
      const args = [disk, at, process.execPath, script, mark, plainMark]
      const { stdout } = await run('unshare', [...shell, ...args])
      const seen = JSON.parse(stdout) as Record<string, unknown> &
        Record<'promised' | 'filled' | 'full', VolumeRoom>
      const { tooLarge, secondTooLarge, heldWhenFull, heldCleanWhenFull, madeWhenFull, heldAfterwards } = seen
      assert.deepEqual(
        { tooLarge, secondTooLarge, heldWhenFull, heldCleanWhenFull, madeWhenFull, heldAfterwards },
        {
          tooLarge: 'HostFull',
          secondTooLarge: 'HostFull',
          // The journal could not be replayed, or the hold not be written. Neither is damage.
          heldWhenFull: 'HostFull',
          heldCleanWhenFull: 'HostFull',
          madeWhenFull: 'HostFull',
          heldAfterwards: 'none',
        },
      )
      assert.deepEqual([seen['holdsWhenFull'], seen['leftWhenFull']], [[], [uuid, volumeUuid(4)]])
      // What is written to a volume takes room on the disk, but none of the room for volumes: it was
      // promised before.
      assert.equal(seen.filled.totalMb, seen.promised.totalMb)
      assert.ok(seen.filled.freeMb < seen.promised.freeMb - 6)
      assert.deepEqual([seen.promised.promisedMb, seen.full.freeMb], [24, 0])
      assert.ok(seen.full.totalMb < seen.full.promisedMb)
      assert.deepEqual(seen['removed'], { room: seen['empty'], left: [] })
      const unmounted = async (): Promise<boolean> => (await run('losetup', ['-j', disk])).stdout === ''
      await until('the disk is unmounted', unmounted, { limitMs: 30_000 })
      const content = await readFile(disk)
      assert.equal(content.includes(mark), false)
      // The mark of a file that was only deleted is still there.
      assert.equal(content.includes(plainMark), true)
    })
  })
})
