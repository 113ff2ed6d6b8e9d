import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import path from 'node:path'
import process from 'node:process'
import type { Group } from './groups.ts'
import { noTests, withFailure } from './group-result.ts'
import type { GroupResult } from './group-result.ts'
import { killAll, leftoversOf, markVariable, marked } from './leftovers.ts'

/** How long a group's process may stay alive after its last test: whatever is still open then is a leak. */
const endLimitMs = 15_000
const outputLimitMs = 1_000

export interface GroupRun {
  readonly result: GroupResult
  readonly elapsedMs: number
}

export interface RunOptions {
  readonly mark: string
  readonly env: NodeJS.ProcessEnv
  readonly write: (text: string) => void
}

/** Runs one group in a process of its own. Never rejects for what the tests do: that is part of the result. */
export async function runGroup(group: Group, options: RunOptions): Promise<GroupRun> {
  const startedMs = performance.now()
  const child = spawn(
    process.execPath,
    [path.join(import.meta.dirname, 'run-mocha.ts'), String(group.testTimeoutMs), ...group.files],
    {
      env: { ...options.env, [markVariable]: options.mark },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  )
  child.stdout?.setEncoding('utf8').on('data', options.write)
  child.stderr?.setEncoding('utf8').on('data', options.write)
  const outcome = await endOf(child, group)
  const leftovers = await leftoversOf(options.mark)
  killAll(leftovers)
  const result = leftovers.reduce(
    (sum, { pid, command }) => withFailure(sum, `${group.name}: left a process behind: ${pid} ${command}`),
    judge(group, outcome),
  )
  return { result, elapsedMs: performance.now() - startedMs }
}

/** For an interrupt: ends what the group started, at once. */
export function abandonGroup(mark: string): void {
  killAll(marked(mark))
}

interface Outcome {
  readonly counts: GroupResult | undefined
  readonly exit: string
  readonly ended: 'by itself' | 'late' | 'over limit'
}

function endOf(child: ChildProcess, group: Group): Promise<Outcome> {
  return new Promise((resolve) => {
    let counts: GroupResult | undefined
    let ended: Outcome['ended'] = 'by itself'
    const killAs = (reason: Outcome['ended']) => () => {
      ended = reason
      child.kill('SIGKILL')
    }
    let timer = setTimeout(killAs('over limit'), group.limitMs)
    child.on('message', (message) => {
      counts = message as GroupResult
      clearTimeout(timer)
      timer = setTimeout(killAs('late'), endLimitMs)
    })
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      const settle = () => resolve({ counts, ended, exit: signal ?? `exit code ${code}` })
      // A process that the group left behind may hold the output open: it is not waited for.
      const impatience = setTimeout(settle, outputLimitMs)
      child.on('close', () => {
        clearTimeout(impatience)
        settle()
      })
    })
  })
}

function judge(group: Group, { counts, exit, ended }: Outcome): GroupResult {
  if (ended === 'over limit') {
    return withFailure(counts ?? noTests, `${group.name}: not finished after ${group.limitMs / 1000} s`)
  }
  if (counts === undefined) return withFailure(noTests, `${group.name}: crashed (${exit})`)
  if (ended === 'late') {
    return withFailure(counts, `${group.name}: still open after its last test (socket, timer or child)`)
  }
  if (counts.passed + counts.failed === 0) return withFailure(counts, `${group.name}: ran no test`)
  return counts
}
