import path from 'node:path'
import { addResults, countsOf, summaryLine } from './group-result.ts'
import type { FileResult, GroupResult } from './group-result.ts'
import type { GroupRun } from './run-group.ts'

const checkout = path.resolve(import.meta.dirname, '../..')
const slowestShown = 10

export interface RunReport {
  readonly runs: readonly GroupRun[]
  /** The result after all second tries. */
  readonly result: GroupResult
  readonly unsteady: readonly FileResult[]
  readonly elapsedMs: number
}

/**
 * Returns the end of a run's output: how long groups and files took, what failed, what is unsteady, and the
 * total as the last line.
 */
export function reportText({ runs, result, unsteady, elapsedMs }: RunReport): string {
  const files = addResults(runs.map((run) => run.result)).files
  const lines = [
    '',
    'groups by time:',
    ...slowest(runs).map((run) => `  ${seconds(run.elapsedMs).padStart(8)}  ${run.group.name}`),
    'slowest files:',
    ...slowest(files)
      .slice(0, slowestShown)
      .map((one) => `  ${seconds(one.elapsedMs).padStart(8)}  ${nameOf(one.file)}`),
    ...result.faults.map((fault) => `  failed: ${fault}`),
    ...titled(result.files).map((line) => `  failed: ${line}`),
    `all groups in ${seconds(elapsedMs)}`,
    ...titled(unsteady).map((line) => `unsteady: ${line}`),
    summaryLine(countsOf(result)),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

export function nameOf(file: string): string {
  return path.relative(checkout, file)
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function slowest<One extends { readonly elapsedMs: number }>(all: readonly One[]): readonly One[] {
  return all.toSorted((one, other) => other.elapsedMs - one.elapsedMs)
}

/** Returns `<file>: <title>` for each failure, because several files may have the same title. */
function titled(files: readonly FileResult[]): readonly string[] {
  return files.flatMap(({ file, failures }) => failures.map((title) => `${nameOf(file)}: ${title}`))
}
