import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { open, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { outcomeOf } from '../../support/program-outcome.ts'

const run = promisify(execFile)

/**
 * The parts that can be destroyed. `superblock`: the first one. Volumes of one block group have no copy of
 * it: up to 8 MB with blocks of 1 KiB, up to 128 MB with blocks of 4 KiB. `inode-table`: the inodes of the
 * journal and the root.
 */
export type ImagePart = 'superblock' | 'inode-table' | 'root-inode' | 'everything'

/** Writes noise over a part of the file system. */
export async function overwrite(image: string, part: ImagePart): Promise<void> {
  const { blockBytes, rootBlock, rootOffset, size } = await layoutOf(image)
  const table = rootBlock * blockBytes
  const place = {
    superblock: { at: 1_024, bytes: 1_024 },
    'inode-table': { at: table, bytes: Math.max(blockBytes, 4_096) },
    'root-inode': { at: table + rootOffset, bytes: 128 },
    everything: { at: 0, bytes: size },
  }[part]
  await writeAt(image, randomBytes(place.bytes), place.at)
}

export async function writeAt(image: string, bytes: Buffer, position: number): Promise<void> {
  const file = await open(image, 'r+')
  try {
    await file.write(bytes, 0, bytes.length, position)
  } finally {
    await file.close()
  }
}

export async function readAt(image: string, position: number, length: number): Promise<Buffer> {
  const file = await open(image, 'r')
  try {
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, position)
    return buffer
  } finally {
    await file.close()
  }
}

/** Gives the requests to debugfs, one after the other, and returns all that it printed. */
export async function debugFs(image: string, ...requests: readonly string[]): Promise<string> {
  const script = `${image}.requests`
  await writeFile(script, `${requests.join('\n')}\n`)
  const { stdout, stderr } = await run('debugfs', ['-w', '-f', script, image])
  return stdout + stderr
}

/** The exit code and the output of a check that changes nothing. */
export async function lookOver(image: string): Promise<{ readonly code: number; readonly said: string }> {
  const { code, text } = await outcomeOf('e2fsck', ['-fn', image])
  return { code, said: text }
}

export async function superblockOf(image: string): Promise<string> {
  return (await run('dumpe2fs', ['-h', image])).stdout
}

async function layoutOf(image: string): Promise<{
  readonly blockBytes: number
  readonly rootBlock: number
  readonly rootOffset: number
  readonly size: number
}> {
  const said = await debugFs(image, 'imap <2>')
  const [, rootBlock, rootOffset] = /located at block (\d+), offset (0x[\da-f]+)/.exec(said) ?? []
  const superblock = await superblockOf(image)
  const number = (name: string): number => Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(superblock)?.[1])
  const blockBytes = number('Block size')
  return {
    blockBytes,
    rootBlock: Number(rootBlock),
    rootOffset: Number(rootOffset),
    size: number('Block count') * blockBytes,
  }
}
