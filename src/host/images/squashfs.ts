import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { chmod, open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { Readable as ReadableStream } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { TarEntry } from './tar-entry.ts'

/** The tool failed; `message` ends with what it said. */
export class SquashfsError extends Error {
  override readonly name = 'SquashfsError'
}

/** 2106, the last second that a squashfs can hold. */
export const maxTimeSeconds = 0xffff_ffff
/** As much of the tool's complaints as goes into a message. */
const maxComplaintBytes = 2_048
/** Its buffers; it would take a quarter of the machine's memory. */
const memoryLimit = '128M'

/**
 * Writes an archive as a read-only squashfs and returns when it is on disk. The same archive gives the same bytes.
 * On failure or abort a part of the file may be left.
 */
export async function writeSquashfs(
  archive: AsyncIterable<Buffer>,
  target: { readonly path: string; readonly root: TarEntry },
  options: { readonly command: string; readonly signal: AbortSignal },
): Promise<void> {
  const child = spawn(options.command, [...squashfsArguments(target.root), target.path], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
    signal: options.signal,
    killSignal: 'SIGKILL',
  })
  const complaint = collect(child.stderr)
  const exited = exitOf(child)
  const fed = pipeline(ReadableStream.from(archive), child.stdin, { signal: options.signal })
  const [feeding, exit] = await Promise.allSettled([fed.catch(rethrowUnlessBrokenPipe), exited])
  options.signal.throwIfAborted()
  if (feeding.status === 'rejected') throw feeding.reason
  if (exit.status === 'rejected')
    throw new SquashfsError(`${options.command} can not be run`, { cause: exit.reason })
  if (exit.value !== 0)
    throw new SquashfsError(`${options.command} failed (${exit.value}): ${await complaint}`)
  await finish(target.path, target.root.mtimeSeconds)
}

/**
 * Nothing is compressed: the guest may run under emulation, where unpacking costs more than reading, and the page
 * cache of the host is shared by all instances of an image.
 */
function squashfsArguments(root: TarEntry): readonly string[] {
  const quietly = ['-quiet', '-no-progress', '-exit-on-error', '-mem', memoryLimit]
  const uncompressed = ['-noI', '-noD', '-noF', '-noX', '-no-tailends']
  const owner = ['-root-uid', String(root.uid), '-root-gid', String(root.gid)]
  const mode = ['-root-mode', root.mode.toString(8)]
  return [...quietly, ...uncompressed, ...owner, ...mode, '-mkfs-time', '0']
}

type Tool = ChildProcessByStdio<Writable, null, Readable>

async function exitOf(child: Tool): Promise<number | string> {
  const [code, signal]: (number | string | null)[] = await once(child, 'close')
  return code ?? signal ?? 'unknown'
}

/** The tool ended before it had read everything; why is in its exit. */
function rethrowUnlessBrokenPipe(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'EPIPE' && code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
}

async function collect(stream: Readable): Promise<string> {
  let text = ''
  const chunks: AsyncIterable<Buffer> = stream
  for await (const chunk of chunks) text = `${text}${chunk.toString('utf8')}`.slice(0, maxComplaintBytes)
  return text.trim()
}

async function finish(path: string, rootTimeSeconds: number): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await setRootTime(file, rootTimeSeconds)
    await file.sync()
  } finally {
    await file.close()
  }
  await chmod(path, 0o644)
}

/** Where the superblock of squashfs 4.0 says which inode is the root's, and where the table of inodes begins. */
const rootInodeField = 32
const inodeTableField = 64
/** The table is a row of blocks: a length in two bytes, then this many bytes of inodes. */
const blockHeaderBytes = 2
const blockBytes = 8_192
/** Within any inode. */
const timeOffset = 8
const timeBytes = 4

/** Version 4.5 of the tool takes `-root-time` and gives the root the time of its own start. */
async function setRootTime(file: FileHandle, seconds: number): Promise<void> {
  const superblock = Buffer.alloc(inodeTableField + 8)
  await file.read(superblock, 0, superblock.length, 0)
  const root = superblock.readBigUInt64LE(rootInodeField)
  const block = Number(superblock.readBigUInt64LE(inodeTableField) + (root >> 16n))
  const time = Buffer.alloc(timeBytes)
  time.writeUInt32LE(Math.min(seconds, maxTimeSeconds))
  for (const [index, byte] of time.entries()) {
    const offset = Number(root & 0xffffn) + timeOffset + index
    const headers = blockHeaderBytes * (1 + Math.floor(offset / blockBytes))
    await file.write(Buffer.of(byte), 0, 1, block + headers + offset)
  }
}
