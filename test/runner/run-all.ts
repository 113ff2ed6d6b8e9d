import process from 'node:process'
import { addResults, noTests, summaryLine, withFailure } from './group-result.ts'
import type { GroupResult } from './group-result.ts'
import type { Group } from './groups.ts'
import { describe, killAll } from './leftovers.ts'
import { currentNamespace, processesIn } from '../support/namespace.ts'
import { OutputTurns } from './output-turns.ts'
import { abandonGroup, runGroup } from './run-group.ts'
import { startSharedDatabase } from './shared-database.ts'

const interruptedExitCode = 130
/** The groups write to pipes, so they can not find out themselves whether somebody looks. */
const colours = process.stdout.isTTY
  ? { FORCE_COLOR: '1', NO_COLOR: undefined }
  : { FORCE_COLOR: undefined, NO_COLOR: '1' }

export interface RunAllOptions {
  /** How many groups may run side by side, of those that may at all. */
  readonly lanes: number
  /** Of groups that pass, only the counts: nobody watches, and what failed must not drown in what did not. */
  readonly failuresOnly: boolean
}

/** Runs the groups, prints their output and the total, and resolves with the exit code. */
export async function runAll(
  groups: readonly Group[],
  { lanes, failuresOnly }: RunAllOptions,
): Promise<number> {
  const startedMs = performance.now()
  const turns = new OutputTurns((text) => process.stdout.write(text))
  const results: GroupResult[] = []
  const marks = new Set<string>()
  let interrupted = false
  const interrupt = () => {
    interrupted = true
    for (const mark of marks) abandonGroup(mark)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)

  const database = await startSharedDatabase(groups.map((group) => group.name))
  const env = { ...process.env, ...database.env, ...colours }
  const runOne = async (group: Group): Promise<void> => {
    if (interrupted) return
    const mark = `${process.pid}/${group.name}`
    const output = turns.begin()
    output.write(`\n== ${group.name} (${group.files.length} files)\n`)
    marks.add(mark)
    const kept: string[] = []
    const write = (text: string): unknown => (failuresOnly ? kept.push(text) : output.write(text))
    const { result, elapsedMs } = await runGroup(group, { mark, env, write })
    marks.delete(mark)
    if (result.failed > 0) output.write(kept.join(''))
    results.push(result)
    output.write(`== ${group.name}: ${summaryLine(result)} in ${seconds(elapsedMs)}\n`)
    output.end()
  }
  try {
    await runInLanes(
      groups.filter((group) => group.shares),
      { lanes, runOne },
    )
    await runInLanes(
      groups.filter((group) => !group.shares),
      { lanes: 1, runOne },
    )
  } finally {
    await database.stop()
  }
  results.push(sweepNamespace())
  if (interrupted) results.push(withFailure(noTests, 'the run was interrupted'))
  const total = addResults(results)
  printTotal(total, performance.now() - startedMs)
  if (interrupted) return interruptedExitCode
  return total.failed === 0 ? 0 : 1
}

async function runInLanes(
  groups: readonly Group[],
  { lanes, runOne }: { readonly lanes: number; readonly runOne: (group: Group) => Promise<void> },
): Promise<void> {
  const waiting = [...groups]
  const lane = async () => {
    for (let group = waiting.shift(); group; group = waiting.shift()) await runOne(group)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** Whatever still runs in the namespace lost its mark on the way, but it is the run's all the same. */
function sweepNamespace(): GroupResult {
  const name = currentNamespace()
  if (name === undefined) return noTests
  const strays = processesIn(name)
    .filter((pid) => pid !== process.pid)
    .map(describe)
  const alive = strays.filter(({ command }) => command !== '')
  killAll(alive)
  return alive.reduce(
    (sum, { pid, command }) => withFailure(sum, `the run left a process behind: ${pid} ${command}`),
    noTests,
  )
}

function printTotal(total: GroupResult, elapsedMs: number): void {
  const failures = total.failures.map((title) => `  failed: ${title}\n`).join('')
  process.stdout.write(`\n${failures}all groups in ${seconds(elapsedMs)}\n${summaryLine(total)}\n`)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
