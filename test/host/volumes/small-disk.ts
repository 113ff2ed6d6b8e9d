import { open, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { FileVolumes } from '../../../src/host/volumes/file-volumes.ts'
import { imagePath } from '../../../src/host/volumes/volume-directory.ts'
import { VolumeError } from '../../../src/host/volumes/volumes.ts'
import { holdOf, instanceUuid, volumeUuid } from './conformance.ts'
import { debugFs, writeAt } from './image.ts'

/**
 * The work of a host with a small disk, in a mount namespace of its own: `node small-disk.ts <directory on
 * that disk> <the mark in a volume> <the mark in a plain file>`. Prints what it saw as JSON.
 */
const [, , disk = '', mark = '', plainMark = ''] = process.argv
const directory = path.join(disk, 'volumes')
const volumes = await FileVolumes.open({ directory, reserveMb: 4 })
const failureOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof VolumeError ? error.failure : String(error)),
  )

const empty = await volumes.room()
const tooLarge = await failureOf(volumes.make({ uuid: volumeUuid(1), sizeMb: 96 }))
await volumes.make({ uuid: volumeUuid(1), sizeMb: 24 })
const secondTooLarge = await failureOf(volumes.make({ uuid: volumeUuid(2), sizeMb: 40 }))
const promised = await volumes.room()

await writeAt(imagePath(directory, volumeUuid(1)), Buffer.alloc(8 * 1024 * 1024, mark), 8 * 1024 * 1024)
const filled = await volumes.room()

await volumes.make({ uuid: volumeUuid(4), sizeMb: 8 })
const block = path.join(disk, 'block')
await writeFile(block, Buffer.alloc(64 * 1024, 7))
await debugFs(imagePath(directory, volumeUuid(1)), 'jo', `jw -b 20000-20063 ${block}`, 'jc')

const ballast = path.join(disk, 'ballast')
await fill(ballast)
const full = await volumes.room()
const heldWhenFull = await failureOf(volumes.hold(holdOf(1, 1)))
const heldCleanWhenFull = await failureOf(volumes.hold(holdOf(4, 1)))
const holdsWhenFull = await volumes.holds()
const madeWhenFull = await failureOf(volumes.make({ uuid: volumeUuid(3), sizeMb: 8 }))
const leftWhenFull = await readdir(directory)
await rm(ballast)
const heldAfterwards = await failureOf(volumes.hold(holdOf(1, 1)))

await volumes.release(instanceUuid(1))
const plain = path.join(disk, 'plain')
await writeFile(plain, plainMark, { flush: true })
await rm(plain)
await volumes.remove(volumeUuid(1))
await volumes.remove(volumeUuid(4))
await rm(block)
const removed = { room: await volumes.room(), left: await readdir(directory) }
await volumes.close()
process.stdout.write(
  JSON.stringify({
    empty,
    tooLarge,
    secondTooLarge,
    promised,
    filled,
    full,
    heldWhenFull,
    heldCleanWhenFull,
    holdsWhenFull,
    madeWhenFull,
    leftWhenFull,
    heldAfterwards,
    removed,
  }),
)

/** Fills the disk to the last block. */
async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w')
  try {
    for (const size of [1024 * 1024, 4_096, 1]) {
      const piece = Buffer.alloc(size, 1)
      for (;;) {
        const written = await handle.write(piece).then(
          ({ bytesWritten }) => bytesWritten === size,
          () => false,
        )
        if (!written) break
      }
    }
    await handle.sync().catch(() => undefined)
  } finally {
    await handle.close()
  }
}
