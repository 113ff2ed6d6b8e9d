import process from 'node:process'
import { addResults, countsOf, noTests, withFailure } from './group-result.ts'
import type { GroupResult } from './group-result.ts'
import type { Group } from './groups.ts'
import { describe, killAll } from './leftovers.ts'
import { currentNamespace, processesIn } from '../support/namespace.ts'
import type { GroupRun } from './run-group.ts'
import { nameOf, reportText } from './run-report.ts'
import { giveSecondTries } from './second-try.ts'
import type { SecondTries } from './second-try.ts'
import { startSharedDatabase } from './shared-database.ts'
import { TitledRuns } from './titled-runs.ts'

const interruptedExitCode = 130
/** The groups write to pipes, so they can not find out themselves whether somebody looks. */
const colours = process.stdout.isTTY
  ? { FORCE_COLOR: '1', NO_COLOR: undefined }
  : { FORCE_COLOR: undefined, NO_COLOR: '1' }

export interface RunAllOptions {
  /** How many groups may run side by side, of those that may at all. */
  readonly lanes: number
  /** The run decides about a change: only failures are printed whole, and files that failed get a second try. */
  readonly decides: boolean
}

/** Runs the groups, prints their output and the total, and resolves with the exit code. */
export async function runAll(groups: readonly Group[], { lanes, decides }: RunAllOptions): Promise<number> {
  const startedMs = performance.now()
  const database = await startSharedDatabase(groups.map((group) => group.name))
  const env = { ...process.env, ...database.env, ...colours }
  const titled = new TitledRuns({ env, failuresOnly: decides })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => titled.interrupt())
  const runs: GroupRun[] = []
  const runOne = async (group: Group): Promise<void> => {
    const run = await titled.run(group, `${group.name} (${group.files.length} files)`)
    if (run !== undefined) runs.push(run)
  }
  let tried: SecondTries
  try {
    await runInLanes(
      groups.filter((group) => group.shares),
      { lanes, runOne },
    )
    await runInLanes(
      groups.filter((group) => !group.shares),
      { lanes: 1, runOne },
    )
    tried = decides
      ? await giveSecondTries(runs, (group) => runAlone(titled, group))
      : { result: addResults(runs.map((run) => run.result)), unsteady: [] }
  } finally {
    await database.stop()
  }
  const interrupted = titled.interrupted ? withFailure(noTests, 'the run was interrupted') : noTests
  const result = addResults([tried.result, sweepNamespace(), interrupted])
  const elapsedMs = performance.now() - startedMs
  process.stdout.write(reportText({ runs, result, unsteady: tried.unsteady, elapsedMs }))
  if (titled.interrupted) return interruptedExitCode
  return countsOf(result).failed === 0 ? 0 : 1
}

/** The second try of a group's one file. */
async function runAlone(titled: TitledRuns, group: Group): Promise<GroupResult> {
  const run = await titled.run(group, `${group.name}, second try of ${group.files.map(nameOf).join()}`)
  return run?.result ?? noTests
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
