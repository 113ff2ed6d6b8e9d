import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { addResults, countsOf, noTests, summaryLine, withFailure } from '../../runner/group-result.ts'
import type { GroupResult } from '../../runner/group-result.ts'
import type { Group } from '../../runner/groups.ts'
import { runGroup } from '../../runner/run-group.ts'
import type { GroupRun } from '../../runner/run-group.ts'
import { reportText } from '../../runner/run-report.ts'
import { giveSecondTries } from '../../runner/second-try.ts'
import type { SecondTries } from '../../runner/second-try.ts'

/** The source of a test that fails the given number of times and then passes, even in another process. */
const failing = (times: number) => `
  import { existsSync, readFileSync, writeFileSync } from 'node:fs'
  const file = import.meta.filename + '.runs'
  describe('a part', () => {
    it('is steady', () => {})
    it('is quick', () => {
      const runs = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
      writeFileSync(file, String(runs + 1))
      if (runs < ${times}) throw new Error('run ' + runs + ' of a slow one')
    })
  })`
const steady = `it('is quick', () => {})`

describe('a second try', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-second-try-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  /** Runs the files in one group. Then it runs each file that failed once more, in a group of its own. */
  async function runTwice(sources: readonly string[]): Promise<
    SecondTries & {
      readonly text: string
      readonly tried: readonly string[]
      readonly files: readonly string[]
    }
  > {
    const files = sources.map((_, index) => path.join(directory, `${index}.test.mjs`))
    for (const [index, file] of files.entries()) writeFileSync(file, sources[index] ?? '')
    const tried: string[] = []
    const run = (group: Group, mark: string): Promise<GroupRun> =>
      runGroup(group, { mark: `${process.pid}/${mark}`, env: process.env, write: () => {} })
    const first = await run(
      { name: 'sample', files, testTimeoutMs: 1_000, limitMs: 20_000, kind: 'busy', isHost: false },
      'first',
    )
    const tries = await giveSecondTries([first], async (group) => {
      tried.push(...group.files)
      return (await run(group, 'second')).result
    })
    return { ...tries, text: reportText({ runs: [first], elapsedMs: 1, ...tries }), tried, files }
  }

  it('is given to each file that failed, and to no other', async () => {
    const { tried, files } = await runTwice([steady, failing(1), steady, failing(2)])
    assert.deepEqual(tried, [files[1], files[3]])
  })

  it('counts as passed what passes then, and names what failed at first above the last line', async () => {
    const { result, text, files } = await runTwice([steady, failing(1)])
    assert.equal(summaryLine(countsOf(result)), '3 passed, 0 failed')
    const name = path.relative(path.resolve(import.meta.dirname, '../../..'), String(files[1]))
    assert.ok(text.endsWith(`\nunsteady: ${name}: a part is quick\n3 passed, 0 failed\n`), text)
  })

  it('leaves the failures of a file that fails again as they were', async () => {
    const { result, unsteady, text } = await runTwice([steady, failing(2)])
    assert.equal(summaryLine(countsOf(result)), '2 passed, 1 failed')
    assert.deepEqual(unsteady, [])
    assert.doesNotMatch(text, /unsteady/)
    assert.match(text, /failed: .*1\.test\.mjs: a part is quick/)
  })

  it('makes good a file that crashed the process of its group', async () => {
    const crashing = failing(1).replace('throw new Error', 'process.exit(7), new Error')
    const { result, text } = await runTwice([crashing, steady])
    assert.equal(summaryLine(countsOf(result)), '3 passed, 0 failed')
    assert.match(text, /unsteady: .*0\.test\.mjs: sample: crashed \(exit code 7\)/)
  })

  it('does not make good a failure that belongs to no file', async () => {
    const { result, tried } = await runTwice([`after(() => { throw new Error('no end') })\n${steady}`])
    assert.equal(countsOf(result).failed, 1)
    assert.deepEqual(tried, [])
  })
})

describe('unsteady files', () => {
  const results = (count: number): GroupResult =>
    addResults(
      Array.from({ length: count }, (_, index) => withFailure(noTests, 'is quick', `/t/${index}.test.ts`)),
    )
  const group: Group = {
    name: 'sample',
    files: [],
    testTimeoutMs: 1,
    limitMs: 1,
    kind: 'busy',
    isHost: false,
  }
  async function afterSecondTries(count: number): Promise<SecondTries & { readonly tries: number }> {
    let tries = 0
    const tried = await giveSecondTries(
      [{ group, result: results(count) }],
      async ({ files: [file = ''] }) => {
        tries++
        return { files: [{ file, passed: 1, failed: 0, skipped: 0, failures: [], elapsedMs: 1 }], faults: [] }
      },
    )
    return { ...tried, tries }
  }

  it('fail the run when there are more than three', async () => {
    assert.equal(countsOf((await afterSecondTries(3)).result).failed, 0)
    const four = countsOf((await afterSecondTries(4)).result)
    assert.deepEqual({ passed: four.passed, failed: four.failed }, { passed: 4, failed: 1 })
    assert.match(four.failures.join(), /4 test files are unsteady, and at most 3 may be/)
  })

  it('are not looked for where more than ten failed', async () => {
    assert.equal((await afterSecondTries(10)).tries, 10)
    const eleven = await afterSecondTries(11)
    assert.deepEqual(
      { tries: eleven.tries, failed: countsOf(eleven.result).failed },
      { tries: 0, failed: 11 },
    )
  })
})

describe('the end of a run', () => {
  it('tells the ten slowest files and the time of each group, the longest first', () => {
    const files = Array.from({ length: 12 }, (_, index) => ({
      file: path.resolve(import.meta.dirname, `../../fault/${index}.test.ts`),
      passed: 1,
      failed: 0,
      skipped: 0,
      failures: [],
      elapsedMs: index * 1_000,
    }))
    const result = { files, faults: [] }
    const run = (name: string, elapsedMs: number, part: GroupResult) => ({
      group: { name, files: [], testTimeoutMs: 1, limitMs: 1, kind: 'busy' as const, isHost: false },
      result: part,
      elapsedMs,
    })
    const text = reportText({
      runs: [run('unit', 9_000, noTests), run('fault', 80_000, result)],
      result,
      unsteady: [],
      elapsedMs: 90_000,
    })
    assert.match(text, /groups by time:\n +80\.0 s {2}fault\n +9\.0 s {2}unit\n/)
    const shown = [...text.matchAll(/ s {2}test\/fault\/(\d+)\.test\.ts/g)].map(([, index]) => Number(index))
    assert.deepEqual(shown, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2])
    assert.ok(text.endsWith('all groups in 90.0 s\n12 passed, 0 failed\n'))
  })
})
