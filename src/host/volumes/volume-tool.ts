import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'

/**
 * The path at which the tool finds the volume's file. Descriptors 0 to 2 are its input, output and errors.
 */
export const volumeInTool = '/dev/fd/3'
/** The exit code of `flock` if another tool works on the same file. No program of e2fsprogs ends with it. */
const conflictExitCode = 75
/**
 * The most address space of a tool. e2fsck holds tables of the whole file system: 100 MB were seen for 100
 * GB full of files, and a forged file system may ask for any amount.
 */
const addressSpaceBytes = 2 * 1024 ** 3

/**
 * The tool's oom_score_adj, the same as a VM's (`guest/keeper/keeper.h`). The user's file decides how much
 * memory the tool takes, so the kernel kills the tool before the platform.
 */
const killScore = '500'
/** The time between the kernel's signal that the processor time is over, and its SIGKILL. */
const cpuGraceSeconds = 5

export interface VolumeTool {
  readonly command: readonly [string, ...string[]]
  /** The descriptor of the volume's file, opened for reading and writing. */
  readonly descriptor: number
  /**
   * The user that the tool runs as. If it is absent, the tool keeps this process's user, because this
   * process is not root.
   */
  readonly owner?: number
  /** The size beyond which the tool may not let the file grow. */
  readonly maxFileBytes: number
  readonly limitMs: number
  readonly maxOutputBytes: number
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

export type ToolEnd =
  | { readonly kind: 'exit'; readonly code: number; readonly output: string; readonly cut: boolean }
  /** A limit of memory, time or size ended the tool, or its own fault. This process did not end it. */
  | { readonly kind: 'signal'; readonly signal: string; readonly output: string }
  | { readonly kind: 'too-slow' }
  /**
   * Another tool works on the file. An agent that has died had started that tool, and the tool will end soon
   * too.
   */
  | { readonly kind: 'conflict' }

/**
 * Runs a program of e2fsprogs on a file in which a user may have written every byte. So the program runs as
 * a user that owns nothing but that file. It has no capabilities, network, shell or variables of this
 * process's environment; its time, memory, output and writes are bounded. If memory runs out, the kernel
 * kills it before the platform. It ends with this process. Rejects if the program could not be run. Once the
 * signal is aborted and the tool has ended, rejects with the signal's reason.
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
 * Sets the tool's score. Otherwise it would have the agent's score, and the kernel would kill all other
 * processes before it. The programs before the tool turn into it and keep the score.
 */
function offerToKiller(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, killScore)
  } catch {
    // The tool has ended already, or has inherited a higher score, which only a privileged process may
    // lower.
  }
}

/**
 * The command line before the tool. Each program turns into the next one, so the process that is started
 * here becomes the tool.
 */
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

/** The first user number of volumes. It is far from the numbers of people, packages and VMs. */
const firstVolumeUid = 0x5000_0000
const volumeUidBits = 24

/**
 * The user that owns the volume's file. Undefined if this process is not root: only root can change to
 * another user.
 */
export function volumeOwner(uuid: string): number | undefined {
  if (process.getuid?.() !== 0) return undefined
  const digest = createHash('sha256').update(uuid).digest()
  return firstVolumeUid + (digest.readUInt32BE(0) >>> (32 - volumeUidBits))
}

const maxExcerptLength = 400

/**
 * The advice that e2fsck prints for a person. It is taken out of messages: here a repair follows it, and
 * knows where the copies of a superblock are.
 */
const advice =
  /^The superblock could not be read[^]*|^.*\bUNEXPECTED INCONSISTENCY; RUN fsck MANUALLY\..*$|^\s*\(i\.e\., without -a or -p options\)$/gm

/**
 * The tool's output in a form that is fit for messages: names of files and labels in it come from the user.
 */
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
