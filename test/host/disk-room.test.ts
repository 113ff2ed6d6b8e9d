import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DiskFullError, DiskRoom } from '../../src/host/disk-room.ts'
import { freeBytesAt } from '../../src/host/free-bytes.ts'
import { FileVolumes } from '../../src/host/volumes/file-volumes.ts'
import { imageName, VolumeStage, stageDirectory } from '../../src/host/volumes/volume-directory.ts'
import { VolumeError } from '../../src/host/volumes/volumes.ts'
import { SmallDisk } from './vmm/small-disk.ts'
import { volumeUuid } from './volumes/conformance.ts'

const mebibyte = 1024 * 1024
const reserveMb = 16

describe('the ledger of a disk', () => {
  let small: SmallDisk
  let directory: string
  let disk: DiskRoom
  beforeEach(async () => {
    small = await SmallDisk.open(64)
    directory = small.directory
    disk = new DiskRoom({ reserveMb })
  })
  afterEach(async () => {
    await small.close()
  })

  const reserve = async (mb: number) => await disk.reserve({ directory, bytes: mb * mebibyte })
  const leftMb = async (): Promise<number> => Math.floor((await disk.figures(directory)).leftBytes / mebibyte)
  const isRefusal = (neededMb: number, left: number) => (error: unknown) =>
    error instanceof DiskFullError && error.neededMb === neededMb && error.leftMb === left

  it('promises what is free but for the reserve, and refuses the rest with the figures', async () => {
    assert.equal(await leftMb(), 48)
    await reserve(40)
    await assert.rejects(reserve(9), isRefusal(9, 8))
    await reserve(8)
    await assert.rejects(
      reserve(1),
      /^DiskFullError: the host's disk has no room: 1 MB are needed and 0 MB are left$/,
    )
  })

  it('takes a promise back whole, once, and knows what was written meanwhile', async () => {
    const promise = await reserve(40)
    await writeFile(join(directory, 'written'), Buffer.alloc(10 * mebibyte, 1))
    promise.release()
    promise.release()
    assert.equal(await leftMb(), 38)
    await rm(join(directory, 'written'))
    assert.equal(await leftMb(), 48)
  })

  it('promises no byte twice, however many ask at once', async () => {
    const all = await Promise.allSettled(Array.from({ length: 20 }, async () => await reserve(5)))
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 9)
  })

  it('knows directories of another disk by its own figures', async () => {
    const other = await SmallDisk.open(32)
    try {
      await reserve(48)
      const figures = await disk.figures(other.directory)
      assert.deepEqual([figures.leftBytes, figures.promisedBytes], [16 * mebibyte, 0])
    } finally {
      await other.close()
    }
  })

  it('begins a new agent without reservations, and with what is on the disk', async () => {
    await reserve(48)
    await writeFile(join(directory, 'written'), Buffer.alloc(8 * mebibyte, 1))
    disk = new DiskRoom({ reserveMb })
    assert.equal(await leftMb(), 40)
  })

  describe('that volumes share with others', () => {
    let volumes: FileVolumes
    beforeEach(async () => {
      await mkdir(join(directory, 'volumes'))
      volumes = await FileVolumes.open({ directory: join(directory, 'volumes'), disk })
    })
    afterEach(async () => {
      await volumes.close()
    })

    it('promises a volume nothing that others were promised, and the other way round', async () => {
      const memory = await reserve(30)
      const { totalMb, promisedMb } = await volumes.room()
      assert.deepEqual([totalMb, promisedMb], [18, 0])
      const isFull = (error: unknown) => error instanceof VolumeError && error.failure === 'HostFull'
      await assert.rejects(volumes.make({ uuid: volumeUuid(1), sizeMb: 19 }), isFull)
      memory.release()
      await volumes.make({ uuid: volumeUuid(1), sizeMb: 40 })
      await assert.rejects(reserve(9), DiskFullError)
      await volumes.remove(volumeUuid(1))
      await reserve(48)
    })

    it('keeps the reserve free when all that was promised is written, and lets others within their promise go on', async () => {
      // Bob's instance is falling asleep while Ann fills the disk as far as she can.
      const bobs = await reserve(12)
      const anns: string[] = []
      for (const sizeMb of [8, 8, 8, 8, 8]) {
        const uuid = volumeUuid(anns.length + 1)
        const made = await volumes.make({ uuid, sizeMb }).then(
          () => true,
          () => false,
        )
        if (made) anns.push(uuid)
      }
      assert.equal(anns.length, 4)
      for (const uuid of anns) {
        const at = stageDirectory(join(directory, 'volumes'), { uuid, stage: VolumeStage.Complete })
        await writeFile(join(at, imageName), Buffer.alloc(8 * mebibyte, 1), { flag: 'r+' })
      }
      await assert.rejects(reserve(5), DiskFullError)
      await writeFile(join(directory, 'memory'), Buffer.alloc(12 * mebibyte, 1))
      bobs.release()
      assert.ok((await freeBytesAt(directory)) >= reserveMb * mebibyte)
    })
  })
})
