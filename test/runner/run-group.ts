import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import path from 'node:path'
import process from 'node:process'
import type { Progress } from './file-record.ts'
import type { Group } from './groups.ts'
import { addResults, noTests, withFailure } from './group-result.ts'
import type { Counts, GroupResult } from './group-result.ts'
import { inside } from '../support/namespace.ts'
import { killAll, leftoversOf, markVariable, marked } from './leftovers.ts'

/**
 * How long a group's process may stay alive after its last test. If it stays longer, a socket or timer was
 * left open.
 */
const endLimitMs = 15_000
const outputLimitMs = 1_000

export interface GroupRun {
  readonly group: Group
  readonly result: GroupResult
  readonly elapsedMs: number
}

export interface RunOptions {
  readonly mark: string
  readonly env: NodeJS.ProcessEnv
  readonly write: (text: string) => void
  /** An abort ends the group's processes at once. */
  readonly signal?: AbortSignal
  /**
   * The network namespace of the group. If it is undefined, the group runs in the namespace of this process.
   */
  readonly namespace?: string | undefined
}

/**
 * Runs one group in a process of its own. It never rejects because of the tests: their failures are part of
 * the result. If a file makes the process crash, that file has failed, and the files that have not begun run
 * in another process.
 */
export async function runGroup(group: Group, options: RunOptions): Promise<GroupRun> {
  const startedMs = performance.now()
  const results: GroupResult[] = []
  const abandon = () => killAll(marked(options.mark))
  options.signal?.addEventListener('abort', abandon)
  let waiting = group.files
  do {
    const leftMs = group.limitMs - (performance.now() - startedMs)
    const outcome = await runFiles(waiting, {
      ...options,
      testTimeoutMs: group.testTimeoutMs,
      limitMs: leftMs,
    })
    results.push(judge({ ...group, files: waiting }, outcome))
    waiting = hasCrashed(outcome) ? waiting.filter((file) => !hasBegun(file, outcome)) : []
  } while (waiting.length > 0 && options.signal?.aborted !== true)
  options.signal?.removeEventListener('abort', abandon)
  if (group.files.length === 0) results.push(withFailure(noTests, `${group.name}: has no test files`))
  return { group, result: addResults(results), elapsedMs: performance.now() - startedMs }
}

interface Outcome {
  /** The last message of the process. */
  readonly progress: Progress
  readonly exit: string
  readonly ended: 'by itself' | 'late' | 'over limit'
  readonly leftovers: Awaited<ReturnType<typeof leftoversOf>>
}

interface FilesOptions extends RunOptions {
  readonly testTimeoutMs: number
  readonly limitMs: number
}

async function runFiles(files: readonly string[], options: FilesOptions): Promise<Outcome> {
  const script = path.join(import.meta.dirname, 'run-mocha.ts')
  const here = {
    command: [process.execPath, script, String(options.testTimeoutMs), ...files],
    env: { ...options.env, [markVariable]: options.mark },
  }
  const { command, env } = options.namespace === undefined ? here : inside(options.namespace, here)
  const [program = '', ...args] = command
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  child.stdout?.setEncoding('utf8').on('data', options.write)
  child.stderr?.setEncoding('utf8').on('data', options.write)
  const end = await endOf(child, options.limitMs)
  const leftovers = await leftoversOf(options.mark)
  killAll(leftovers)
  return { ...end, leftovers }
}

function endOf(child: ChildProcess, limitMs: number): Promise<Omit<Outcome, 'leftovers'>> {
  return new Promise((resolve) => {
    let progress: Progress = { ...noTests, ended: false }
    let ended: Outcome['ended'] = 'by itself'
    const killAs = (reason: Outcome['ended']) => () => {
      ended = reason
      child.kill('SIGKILL')
    }
    let timer = setTimeout(killAs('over limit'), limitMs)
    child.on('message', (message) => {
      progress = message as Progress
      if (!progress.ended) return
      clearTimeout(timer)
      timer = setTimeout(killAs('late'), endLimitMs)
    })
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      const settle = () => resolve({ progress, ended, exit: signal ?? `exit code ${code}` })
      // A process that the group left behind may hold the output open, so the wait for the end has a limit.
      const impatience = setTimeout(settle, outputLimitMs)
      child.on('close', () => {
        clearTimeout(impatience)
        settle()
      })
    })
  })
}

function hasCrashed({ progress, ended }: Outcome): boolean {
  return ended === 'by itself' && !progress.ended && progress.running !== undefined
}

function hasBegun(file: string, { progress }: Outcome): boolean {
  return file === progress.running || progress.files.some((one) => one.file === file && ranTests(one))
}

function judge(group: Group, { progress, exit, ended, leftovers }: Outcome): GroupResult {
  const { running, files, faults } = progress
  const result: GroupResult = { files, faults }
  if (ended === 'over limit') {
    const during = running === undefined ? '' : `, in ${path.basename(running)}`
    return withFailure(result, `${group.name}: not finished after ${group.limitMs / 1000} s${during}`)
  }
  if (!progress.ended) return withFailure(result, `${group.name}: crashed (${exit})`, running)
  if (ended === 'late') {
    return withFailure(result, `${group.name}: still open after its last test (socket, timer or child)`)
  }
  const left = leftovers.reduce(
    (sum, { pid, command, file }) =>
      withFailure(sum, `${group.name}: left a process behind: ${pid} ${command}`, file),
    result,
  )
  // A file that ran no test has failed: when a hook around all files fails, mocha leaves out all other
  // files.
  const ran = new Set(result.files.filter(ranTests).map(({ file }) => file))
  return group.files
    .filter((file) => !ran.has(file))
    .reduce((sum, file) => withFailure(sum, `${group.name}: ran no test`, file), left)
}

function ranTests({ passed, failed, skipped }: Counts): boolean {
  return passed + failed + skipped > 0
}
