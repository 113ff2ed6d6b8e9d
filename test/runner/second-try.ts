import { addResults } from './group-result.ts'
import type { FileResult, GroupResult } from './group-result.ts'
import type { Group } from './groups.ts'

/**
 * The most files of a run that may pass only at their second try. With more of them the run fails, because
 * the causes have to be found first.
 */
export const mostUnsteadyFiles = 3
/**
 * The most files that get a second try. If more files failed, something is broken, and second tries would
 * only take time.
 */
const mostTries = 10

export interface FirstTry {
  readonly group: Group
  readonly result: GroupResult
}

export interface SecondTries {
  /** All results of the run. A file that passed at its second try has its second result here. */
  readonly result: GroupResult
  /** The first results of the files that passed at their second try. */
  readonly unsteady: readonly FileResult[]
}

/**
 * Gives each failed file a second try with `runAlone`, one after another. A file passes only if all of its
 * tests pass at the second try; otherwise it keeps its first result. Failures that belong to no file are not
 * tried again.
 */
export async function giveSecondTries(
  tries: readonly FirstTry[],
  runAlone: (group: Group) => Promise<GroupResult>,
): Promise<SecondTries> {
  const first = addResults(tries.map(({ result }) => result))
  const failed = tries.flatMap(({ group, result }) =>
    result.files.filter((file) => file.failed > 0).map((file) => ({ group, file })),
  )
  if (failed.length > mostTries) return { result: first, unsteady: [] }
  const passed = new Map<FileResult, FileResult>()
  for (const { group, file } of failed) {
    const again = await runAlone({ ...group, files: [file.file] })
    const [second] = again.files
    if (second !== undefined && second.failed === 0 && again.faults.length === 0) passed.set(file, second)
  }
  return {
    result: {
      files: first.files.map((file) => passed.get(file) ?? file),
      faults: [...first.faults, ...tooMany(passed.size)],
    },
    unsteady: [...passed.keys()],
  }
}

function tooMany(unsteadyFiles: number): readonly string[] {
  if (unsteadyFiles <= mostUnsteadyFiles) return []
  return [
    `${unsteadyFiles} test files are unsteady, and at most ${mostUnsteadyFiles} may be: find the causes first`,
  ]
}
