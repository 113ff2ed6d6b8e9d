import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { chmod, open } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { Readable as ReadableStream } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setRoot } from './squashfs-root.ts'
import { LayerError } from './tar-entry.ts'
import type { TarEntry } from './tar-entry.ts'
import { tooLong } from './unpack-budget.ts'

/**
 * Thrown when the tool that makes the squashfs failed. `message` ends with what the tool wrote to stderr.
 */
export class SquashfsError extends Error {
  override readonly name = 'SquashfsError'
}

/** The most characters of what the tool wrote to stderr that go into a message. */
const maxComplaintBytes = 2_048
/**
 * The memory for the tool's buffers. Without this limit the tool takes a quarter of the machine's memory.
 */
const memoryLimit = '128M'
/** Nothing is compressed, so more threads would only take processors from others. */
const processors = '1'

export interface SquashfsTarget {
  readonly path: string
  readonly root: TarEntry
  /** Whether anything but the root belongs to this user or group. */
  readonly uses: (id: number) => boolean
}

/**
 * Writes an archive as a read-only squashfs and returns when it is on disk. The same archive gives the same
 * bytes. After a failure a part of the file may be left. Throws LayerError if the tool takes more than
 * `cpuSeconds` of processor time.
 */
export async function writeSquashfs(
  archive: AsyncIterable<Buffer>,
  target: SquashfsTarget,
  options: { readonly command: string; readonly cpuSeconds: number },
): Promise<void> {
  const tool = [options.command, ...squashfsArguments(target.root), target.path]
  // The signal at the first limit tells us why the tool ended. The second limit ends a tool that ignores the
  // signal.
  const bounds = `--cpu=${options.cpuSeconds}:${options.cpuSeconds + 5}`
  const child = spawn('prlimit', [bounds, '--', ...tool], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
  })
  const complaint = collect(child.stderr)
  const exited = exitOf(child)
  const fed = pipeline(ReadableStream.from(archive), child.stdin)
  const [feeding, exit] = await Promise.allSettled([fed.catch(rethrowUnlessBrokenPipe), exited])
  if (exit.status === 'fulfilled' && exit.value === 'SIGXCPU')
    throw new LayerError(tooLong(options.cpuSeconds))
  if (feeding.status === 'rejected') throw feeding.reason
  if (exit.status === 'rejected')
    throw new SquashfsError(`${options.command} can not be run`, { cause: exit.reason })
  if (exit.value !== 0)
    throw new SquashfsError(`${options.command} failed (${exit.value}): ${await complaint}`)
  await finish(target)
}

/**
 * The tool's arguments. Nothing is compressed: the guest may run under emulation, where unpacking costs more
 * than reading, and the page cache of the host is shared by all instances of an image.
 */
function squashfsArguments(root: TarEntry): readonly string[] {
  const quietly = ['-quiet', '-no-progress', '-exit-on-error', '-mem', memoryLimit, '-processors', processors]
  const uncompressed = ['-noI', '-noD', '-noF', '-noX', '-no-tailends']
  const mode = ['-root-mode', root.mode.toString(8)]
  return [...quietly, ...uncompressed, ...mode, '-mkfs-time', '0']
}

type Tool = ChildProcessByStdio<Writable, null, Readable>

async function exitOf(child: Tool): Promise<number | string> {
  const [code, signal]: (number | string | null)[] = await once(child, 'close')
  return code ?? signal ?? 'unknown'
}

/** Ignores a broken pipe: the tool ended before it had read everything, and its exit status tells why. */
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

async function finish({ path, root, uses }: SquashfsTarget): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await setRoot(file, root, uses)
    await file.sync()
  } finally {
    await file.close()
  }
  await chmod(path, 0o644)
}
