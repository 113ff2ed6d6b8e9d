import { execFile, spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'
import { ImageError } from './images.ts'
import { LayerError } from './tar-entry.ts'
import { tooLong } from './unpack-budget.ts'
import { go } from './unpack-messages.ts'
import type { UnpackOrder, UnpackReport } from './unpack-messages.ts'
import type { Unpacked } from './unpack.ts'

/** A process that unpacks one image, or waits for its order. */
export interface Unpacker {
  /**
   * Unpacks the image. It may be called once. Throws LayerError if the image can not be used. `admit` is
   * that of `unpackImage`.
   */
  unpack(order: Omit<UnpackOrder, 'owner'>, admit: (bytes: number) => Promise<void>): Promise<Unpacked>
  /** The user that the process becomes. It is undefined if the process keeps the agent's user. */
  readonly owner: UnpackOrder['owner']
  /** Kills the process and everything that it started. A pending `unpack` rejects. */
  end(): void
  hasEnded(): boolean
}

export interface UnpackerOptions {
  readonly program: string
  readonly maxFileBytes: number
  readonly maxCpuSeconds: number
  readonly withoutNetwork: boolean
  readonly owner?: UnpackOrder['owner']
}

/**
 * The process's oom_score_adj. When memory has run out, the kernel kills this process before the VMs, the
 * agent and all other parts.
 */
const oomScoreAdjustment = '1000'
/**
 * How long the process has full priority. In this time a small image, whose start waits for it, is unpacked.
 * After it, the process leaves the processors to all others.
 */
const atFullPriorityMs = 1_000
const niceness = '10'
/**
 * The most memory of the process's JavaScript heap, in MiB. The names of an image with as many entries as
 * are permitted take some 350 MiB.
 */
const maxHeapMb = 768
/**
 * The most bytes of memory for data, with that of threads and buffers. Address space is not bounded, because
 * V8 reserves far more than it uses.
 */
const maxDataBytes = 2 * 1024 * 1024 * 1024
/** The most processes and threads. Node has some ten threads, the tool for the squashfs as many. */
const maxProcesses = 128
const maxOpenFiles = 256
/** The most bytes that are read from each of the process's outputs. */
const maxSaidBytes = 64 * 1024

/** How much of a wrong line an error shows, which is enough to recognise it. */
const shownCharacters = 80

/** A process that unpacks does not keep to the messages that it has to send. */
export class UnpackerFault extends Error {
  override readonly name = 'UnpackerFault'
}

export function startUnpacker(options: UnpackerOptions): Unpacker {
  const [command = '', ...args] = commandLine(options)
  const child = spawn(command, args, {
    // The process leads a process group, so that it can be killed with everything that it started.
    detached: true,
    cwd: '/',
    // The process gets no variables of this process's environment, because they may hold secrets of the
    // platform.
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // A process that only waits for its order must not keep this process from ending.
  const handles = [
    child,
    ...[child.stdin, child.stdout, child.stderr].map((pipe) => pipe as unknown as Socket),
  ]
  for (const handle of handles) handle.unref()
  // If nothing more can be written to the process, its exit code tells why.
  child.stdin.on('error', () => undefined)
  const ended = exitOf(child)
  let hasEnded = false
  ended.then(
    () => (hasEnded = true),
    () => (hasEnded = true),
  )
  const complaint = firstOf(child.stderr).catch(() => '')
  return {
    owner: options.owner,
    hasEnded: () => hasEnded,
    end: () => {
      if (!hasEnded) killGroup(child.pid)
    },
    async unpack(order, admit) {
      for (const handle of handles) handle.ref()
      const lowering = setTimeout(() => lowerPriority(child.pid), atFullPriorityMs)
      try {
        child.stdin.write(`${JSON.stringify({ ...order, owner: options.owner } satisfies UnpackOrder)}\n`)
        for await (const report of reportsOf(child.stdout)) {
          if (report.kind === 'merged') {
            await admit(report.bytes)
            child.stdin.write(`${go}\n`)
          } else if (report.kind === 'done') return report.unpacked
          else if (report.kind === 'refused') throw new LayerError(report.message)
          else throw new Error(`the image could not be unpacked: ${report.message}`)
        }
        throw endingError(await ended, await complaint, options)
      } finally {
        clearTimeout(lowering)
      }
    },
  }
}

/**
 * The command line, which sets the bounds of the process. If the agent is root, the process has a network of
 * its own without any interface, and can gain no privileges. It stays root until it takes its order, because
 * other users may not be able to read the program.
 */
function commandLine(options: UnpackerOptions): readonly string[] {
  const bounds = {
    core: 0,
    cpu: `${options.maxCpuSeconds}:${options.maxCpuSeconds + 5}`,
    data: maxDataBytes,
    fsize: options.maxFileBytes,
    nofile: maxOpenFiles,
    nproc: maxProcesses,
  }
  const rlimits = Object.entries(bounds).map(([name, bound]) => `--${name}=${bound}`)
  const network = options.withoutNetwork ? ['unshare', '--net', '--'] : []
  const node = [process.execPath, `--max-old-space-size=${maxHeapMb}`, options.program]
  return [
    'choom',
    '-n',
    oomScoreAdjustment,
    '--',
    ...network,
    'prlimit',
    ...rlimits,
    '--',
    'setpriv',
    '--no-new-privs',
    '--',
    ...node,
  ]
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

async function exitOf(child: Child): Promise<number | string> {
  return await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code: number | null, signal: string | null) => resolve(code ?? signal ?? 'unknown'))
  })
}

async function* reportsOf(stdout: Readable): AsyncGenerator<UnpackReport> {
  let said = 0
  let rest = ''
  const chunks: AsyncIterable<Buffer> = stdout.iterator({ destroyOnReturn: false })
  for await (const chunk of chunks) {
    said += chunk.length
    if (said > maxSaidBytes) {
      throw new UnpackerFault(`the process that unpacks says more than ${maxSaidBytes} bytes`)
    }
    const lines = `${rest}${chunk.toString('utf8')}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield reportIn(line)
  }
}

/** The process may be in the hands of an image, so the form of what it says is checked. */
function reportIn(line: string): UnpackReport {
  const report = parseJson(line)
  if (isJsonObject(report)) {
    const { kind, bytes, unpacked, message } = report
    if (kind === 'merged' && typeof bytes === 'number') return { kind, bytes }
    if (kind === 'done' && isUnpacked(unpacked)) return { kind, unpacked }
    if ((kind === 'refused' || kind === 'failed') && typeof message === 'string') return { kind, message }
  }
  throw new UnpackerFault(
    `the process that unpacks says what is no report: ${line.slice(0, shownCharacters)}`,
  )
}

function isUnpacked(value: unknown): value is Unpacked {
  if (!isJsonObject(value)) return false
  return (
    value['kind'] === 'container' || (value['kind'] === 'kernel' && typeof value['hasInitrd'] === 'boolean')
  )
}

async function firstOf(stream: Readable): Promise<string> {
  let text = ''
  const chunks: AsyncIterable<Buffer> = stream
  for await (const chunk of chunks) if (text.length < maxSaidBytes) text += chunk.toString('utf8')
  return text
}

/**
 * The error for a process that ended without a report. An image that takes all the time or memory that one
 * may have would do so again, so it is refused as unusable.
 */
function endingError(exit: number | string, complaint: string, { maxCpuSeconds }: UnpackerOptions): Error {
  if (exit === 'SIGXCPU') return new LayerError(tooLong(maxCpuSeconds))
  if (exit === 'SIGKILL') {
    return new ImageError('HostFull', 'this host ran out of memory while it unpacked the image')
  }
  if (complaint.includes('heap out of memory')) {
    return new LayerError(
      `the image takes more than ${maxHeapMb} MiB of memory to unpack; build it with fewer files`,
    )
  }
  const said = complaint.trim().split('\n').slice(0, 3).join(' ')
  return new Error(`the process that unpacks the image ended (${exit}) ${said}`)
}

/** Lowers the priority of all threads of the process group. Node itself can not do that. */
function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return
  // If the group has ended in the meantime, there is nothing to lower.
  execFile('renice', ['-n', niceness, '-g', String(pid)], () => undefined)
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
