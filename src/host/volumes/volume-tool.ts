import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'

/** In the tool, the volume's file. Descriptors 0 to 2 are its input, output and errors. */
export const volumeInTool = '/dev/fd/3'
/** What `flock` ends with where another tool works on the same file. No program of e2fsprogs ends with it. */
const conflictExitCode = 75
/**
 * e2fsck holds tables of the whole file system: 100 MB were seen for 100 GB full of files, and a forged one
 * may ask for any amount.
 */
const addressSpaceBytes = 2 * 1024 ** 3

/**
 * As a VM's (`guest/keeper/keeper.h`): it has as much memory as the tenant's file makes it take, so it goes
 * before the platform.
 */
const killScore = '500'
/** Between the signal by which the kernel says that the processor time is over, and its SIGKILL. */
const cpuGraceSeconds = 5

export interface VolumeTool {
  readonly command: readonly [string, ...string[]]
  /** Of the volume's file, opened for reading and writing. */
  readonly descriptor: number
  /** Whom the tool becomes; absent where we are not root ourselves. */
  readonly owner?: number
  /** The tool may not make the file larger than that. */
  readonly maxFileBytes: number
  readonly limitMs: number
  readonly maxOutputBytes: number
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

export type ToolEnd =
  | { readonly kind: 'exit'; readonly code: number; readonly output: string; readonly cut: boolean }
  /** Not by us: a limit of memory, time or size, or a fault of the tool. */
  | { readonly kind: 'signal'; readonly signal: string; readonly output: string }
  | { readonly kind: 'too-slow' }
  /** Another tool has the file: one of an agent that died, and about to die itself. */
  | { readonly kind: 'conflict' }

/**
 * Runs a program of e2fsprogs on a file that a tenant may have written every byte of. So it runs as a user
 * that owns nothing but that file, without capabilities or a network, bounded in time, memory, output and in
 * what it may write, without a shell and with nothing of our environment. Where memory runs out it is killed
 * before the platform. It dies with us. Rejects where it could not be run, and with the signal's reason once
 * that is aborted and the tool is gone.
 */
export async function runVolumeTool(tool: VolumeTool): Promise<ToolEnd> {
  tool.signal?.throwIfAborted()
  const [program, ...args] = [...bounds(tool), ...tool.command]
  const child = spawn(program ?? '', args, {
    stdio: ['ignore', 'pipe', 'pipe', tool.descriptor],
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', ...tool.env },
  })
  offerToKiller(child.pid)
  return await endOf(child, tool)
}

/**
 * Without this it would have the agent's score, and all others would be killed before it. Each program before
 * the tool becomes it and keeps the score.
 */
function offerToKiller(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, killScore)
  } catch {
    // It has ended already, or has a higher score from us, which not everybody may lower.
  }
}

/** Each program here becomes the next one, so the process that we started is the tool. */
function bounds(tool: VolumeTool): readonly string[] {
  const { owner, maxFileBytes, limitMs } = tool
  const cpuSeconds = Math.ceil(limitMs / 1_000)
  const unprivileged =
    owner === undefined
      ? ''
      : ` --reuid ${owner} --regid ${owner} --clear-groups --bounding-set=-all --inh-caps=-all`
  return [
    `flock --no-fork --nonblock --conflict-exit-code ${conflictExitCode} ${volumeInTool}`,
    `prlimit --as=${addressSpaceBytes} --fsize=${maxFileBytes} --cpu=${cpuSeconds}:${cpuSeconds + cpuGraceSeconds} --core=0`,
    ...(owner === undefined ? [] : ['unshare --net --ipc']),
    `setpriv --pdeathsig KILL --no-new-privs${unprivileged}`,
  ].flatMap((words) => words.split(' '))
}

function endOf(child: ChildProcess, tool: VolumeTool): Promise<ToolEnd> {
  const { signal, limitMs, maxOutputBytes } = tool
  return new Promise((resolve, reject) => {
    let output = ''
    let cut = false
    let tooSlow = false
    const gather = (text: string): void => {
      const room = maxOutputBytes - output.length
      cut ||= text.length > room
      output += text.slice(0, room)
    }
    child.stdout?.setEncoding('latin1').on('data', gather)
    child.stderr?.setEncoding('latin1').on('data', gather)
    const kill = (): void => {
      child.kill('SIGKILL')
    }
    const limit = setTimeout(() => {
      tooSlow = true
      kill()
    }, limitMs)
    signal?.addEventListener('abort', kill)
    const done = (): void => {
      clearTimeout(limit)
      signal?.removeEventListener('abort', kill)
    }
    child.on('error', (cause) => {
      done()
      reject(new Error(`${tool.command[0]} could not be started`, { cause }))
    })
    child.on('close', (code, by) => {
      done()
      if (signal?.aborted === true) reject(signal.reason as Error)
      else if (tooSlow) resolve({ kind: 'too-slow' })
      else if (code === conflictExitCode) resolve({ kind: 'conflict' })
      else if (code === null) resolve({ kind: 'signal', signal: by ?? 'unknown', output })
      else resolve({ kind: 'exit', code, output, cut })
    })
  })
}

/** Far from people, packages and the users of VMs. */
const firstVolumeUid = 0x5000_0000
const volumeUidBits = 24

/** The user that owns the volume's file. Not root: nobody else, for that takes root. */
export function volumeOwner(uuid: string): number | undefined {
  if (process.getuid?.() !== 0) return undefined
  const digest = createHash('sha256').update(uuid).digest()
  return firstVolumeUid + (digest.readUInt32BE(0) >>> (32 - volumeUidBits))
}

const maxExcerptLength = 400

/**
 * What e2fsck advises who runs it by hand; here a repair does that, and knows where the copies of a
 * superblock are.
 */
const advice =
  /^The superblock could not be read[^]*|^.*\bUNEXPECTED INCONSISTENCY; RUN fsck MANUALLY\..*$|^\s*\(i\.e\., without -a or -p options\)$/gm

/** What a tool said, fit for a message: its names of files and labels are the tenant's. */
export function excerptOf(output: string): string {
  const plain = output
    .replace(advice, '')
    .split(/[\r\n]+/)
    .map((line) =>
      line
        .replace(/^\S*\/dev\/fd\/3:\s*/, '')
        .replace(volumeInTool, 'the volume')
        .replace(/[^\u0020-\u007e]/g, '?')
        .trim(),
    )
    .filter((line) => line !== '')
    .join('; ')
  return plain.length > maxExcerptLength ? `${plain.slice(0, maxExcerptLength)}...` : plain
}
