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
import { namespaceFor } from './groups.ts'
import { runInLanes } from './lanes.ts'
import type { Lanes } from './lanes.ts'
import { startSharedDatabase } from './shared-database.ts'
import { TitledRuns } from './titled-runs.ts'

const interruptedExitCode = 130
/**
 * How long a run that decides may take. Whoever waits for it gives up after 90 minutes, set-up included, and
 * then nobody sees what it printed. So it ends by itself before, and says what it was at.
 */
const decidingLimitMs = 76 * 60_000
/**
 * Whether the groups' output has colours. Groups write to pipes, so they can not see whether the output goes
 * to a terminal.
 */
const colours = process.stdout.isTTY
  ? { FORCE_COLOR: '1', NO_COLOR: undefined }
  : { FORCE_COLOR: undefined, NO_COLOR: '1' }

export interface RunAllOptions {
  readonly lanes: Lanes
  /**
   * True if the run decides whether a change is accepted, as in CI. Then only failures are printed in full,
   * and files that failed get a second try.
   */
  readonly decides: boolean
}

/** Runs the groups, prints their output and the total, and resolves with the exit code. */
export async function runAll(groups: readonly Group[], { lanes, decides }: RunAllOptions): Promise<number> {
  const startedMs = performance.now()
  const database = await startSharedDatabase(groups.map((group) => group.name))
  const env = (group: Group) => ({ ...process.env, ...database.envOf(group.name), ...colours })
  const titled = new TitledRuns({ env, failuresOnly: decides })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => titled.interrupt('the run was interrupted'))
  const tooLong = `the run was not finished after ${decidingLimitMs / 60_000} minutes`
  const limit = decides ? setTimeout(() => titled.interrupt(tooLong), decidingLimitMs) : undefined
  const runs: GroupRun[] = []
  const runOne = async (group: Group): Promise<void> => {
    const run = await titled.run(group, `${group.name} (${group.files.length} files)`)
    if (run !== undefined) runs.push(run)
  }
  let tried: SecondTries
  try {
    for (const kind of ['busy', 'waiting', 'alone'] as const)
      await runInLanes(
        groups.filter((group) => group.kind === kind),
        { lanes: lanes[kind], runOne },
      )
    tried = decides
      ? await giveSecondTries(runs, (group) => runAlone(titled, group))
      : { result: addResults(runs.map((run) => run.result)), unsteady: [] }
  } finally {
    clearTimeout(limit)
    await database.stop()
  }
  const interrupted = titled.interrupted ? withFailure(noTests, titled.whyInterrupted) : noTests
  const result = addResults([tried.result, sweepNamespaces(groups), interrupted])
  const elapsedMs = performance.now() - startedMs
  process.stdout.write(reportText({ runs, result, unsteady: tried.unsteady, elapsedMs }))
  if (titled.interrupted) return interruptedExitCode
  return countsOf(result).failed === 0 ? 0 : 1
}

/** Runs the second try of one file. `group` has only this file. */
async function runAlone(titled: TitledRuns, group: Group): Promise<GroupResult> {
  const run = await titled.run(group, `${group.name}, second try of ${group.files.map(nameOf).join()}`)
  return run?.result ?? noTests
}

/**
 * Ends the processes that still run in the run's namespaces. They have no mark any more, but nobody else has
 * processes there.
 */
function sweepNamespaces(groups: readonly Group[]): GroupResult {
  const strays = [currentNamespace(), ...groups.map(namespaceFor)]
    .filter((name) => name !== undefined)
    .flatMap(processesIn)
    .filter((pid) => pid !== process.pid)
    .map(describe)
  const alive = strays.filter(({ command }) => command !== '')
  killAll(alive)
  return alive.reduce(
    (sum, { pid, command }) => withFailure(sum, `the run left a process behind: ${pid} ${command}`),
    noTests,
  )
}
