import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { countsOf, summaryLine } from '../../runner/group-result.ts'
import type { Counts, GroupResult } from '../../runner/group-result.ts'
import { describe as describeProcess } from '../../runner/leftovers.ts'
import { OutputTurns } from '../../runner/output-turns.ts'
import { runGroup } from '../../runner/run-group.ts'

describe('a group of tests', () => {
  let directory: string
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-runner-'))
  })
  after(() => rmSync(directory, { recursive: true, force: true }))

  let runs = 0
  async function runFiles(
    sources: readonly string[],
    { limitMs = 10_000, namespace }: { readonly limitMs?: number; readonly namespace?: string } = {},
  ): Promise<
    Counts & { readonly text: string; readonly result: GroupResult; readonly files: readonly string[] }
  > {
    const name = `sample${++runs}`
    const files = sources.map((_, index) => path.join(directory, `${name}-${index}.test.mjs`))
    for (const [index, file] of files.entries()) writeFileSync(file, sources[index] ?? '')
    let text = ''
    const { result } = await runGroup(
      { name, files, testTimeoutMs: 1_000, limitMs, kind: 'busy', isHost: false },
      { mark: `${process.pid}/runner/${runs}`, env: process.env, write: (part) => (text += part), namespace },
    )
    return { ...countsOf(result), text, result, files }
  }
  const run = (source: string) => runFiles([source])

  it('counts what passed, failed and was left out', async () => {
    const result = await run(`
      it('holds', () => {})
      it('does not hold', () => { throw new Error('because') })
      it('is left out')`)
    assert.equal(summaryLine(result), '1 passed, 1 failed, 1 skipped')
    assert.deepEqual(result.failures, ['does not hold'])
    assert.match(result.text, /because/)
  })

  it('counts a failure for the file that it is in, also where files have titles in common', async () => {
    const { result, files } = await runFiles([
      `it('holds', () => {})`,
      `it('holds', () => { throw new Error('not here') })`,
    ])
    const counted = result.files.map(({ file, passed, failed }) => ({ file, passed, failed }))
    assert.deepEqual(counted, [
      { file: files[0], passed: 1, failed: 0 },
      { file: files[1], passed: 0, failed: 1 },
    ])
  })

  it('counts the failure of a hook for the file that the hook is in', async () => {
    const { result } = await runFiles([
      `it('passes', () => {})`,
      `describe('one', () => { before(() => { throw new Error('no') }); it('waits', () => {}) })`,
    ])
    assert.deepEqual(
      result.files.map(({ failed }) => failed),
      [0, 1],
    )
  })

  it('counts the failure of a hook around all tests for the file of its test, and those of which none ran as failed', async () => {
    const { result, files } = await runFiles([
      `afterEach(function () { if (this.currentTest.title === 'second') throw new Error('after') })
       describe('one', () => it('first', () => {}))`,
      `describe('two', () => it('second', () => {}))`,
      `describe('three', () => it('third', () => {}))`,
    ])
    const failed = result.files.filter((file) => file.failed > 0)
    assert.deepEqual(
      failed.map(({ file }) => file),
      files.slice(1),
    )
    assert.match(String(failed[0]?.failures), /after each/)
    assert.match(String(failed[1]?.failures), /ran no test/)
  })

  it('has a fault of its own when a hook around all files fails', async () => {
    const { result } = await run(`
      after(() => { throw new Error('can not stop') })
      describe('one', () => it('passes', () => {}))`)
    assert.match(result.faults.join(), /after all/)
    assert.equal(result.files[0]?.failed, 0)
  })

  it('prints with a failure what those know who have more to tell of it, also where a hook fails', async () => {
    const notes = JSON.stringify(path.resolve(import.meta.dirname, '../../support/failure-notes.ts'))
    const { text } = await run(`
      import { onFailure } from ${notes}
      onFailure(() => 'it was about to rain')
      describe('a walk', () => { before(() => { throw new Error('wet') }); it('begins', () => {}) })`)
    assert.match(text, /it was about to rain/)
  })

  it('measures the time of each file with its hooks', async () => {
    const wait = (ms: number) => `await new Promise((resolve) => setTimeout(resolve, ${ms}))`
    const { result } = await runFiles([
      `describe('slow', () => { before(async () => { ${wait(300)} }); it('passes', async () => { ${wait(100)} }) })`,
      `describe('quick', () => it('passes', () => {}))`,
    ])
    const [slow, quick] = result.files
    // Timers may come a millisecond early.
    assert.ok(Number(slow?.elapsedMs) >= 390, `${slow?.elapsedMs} ms`)
    assert.ok(Number(quick?.elapsedMs) < Number(slow?.elapsedMs))
  })

  it('fails when it runs no test', async () => {
    assert.match((await run('')).failures.join(), /ran no test/)
    assert.match((await runFiles([])).failures.join(), /has no test files/)
  })

  it('fails when its process ends before the tests do', async () => {
    assert.match(
      (await run(`it('leaves', () => process.exit(0))`)).failures.join(),
      /crashed \(exit code 0\)/,
    )
  })

  it('goes on with the other files when its process crashes in one, and counts that as its failure', async () => {
    const { result, files } = await runFiles([
      `it('first', () => {})`,
      `it('leaves', () => process.exit(3))`,
      `it('last', () => {})`,
    ])
    const counted = result.files.map(({ file, passed, failures }) => ({ file, passed, failures }))
    assert.deepEqual(counted, [
      { file: files[0], passed: 1, failures: [] },
      { file: files[1], passed: 0, failures: [`sample${runs}: crashed (exit code 3)`] },
      { file: files[2], passed: 1, failures: [] },
    ])
  })

  it('has told why a test failed, with the cause, when its process crashes later', async () => {
    const { text } = await runFiles([
      `it('fails', () => { throw new Error('too late', { cause: new Error('a slow clock') }) })`,
      `it('leaves', () => process.exit(3))`,
    ])
    assert.match(text, /too late[^]*a slow clock/)
  })

  it('fails a test during which a rejection is handled by nobody', async () => {
    const result = await run(
      `it('forgets one', async () => { void Promise.reject(new Error('lost')); await new Promise((resolve) => setTimeout(resolve, 50)) })`,
    )
    assert.deepEqual(result.failures, ['forgets one'])
    assert.match(result.text, /lost/)
  })

  it('fails when a file can not be loaded', async () => {
    const result = await run(`throw new Error('no such thing')`)
    assert.equal(result.failed, 1)
    assert.match(result.text, /no such thing/)
  })

  it('is ended at its time limit', async () => {
    const result = await runFiles([`it('spins', () => { for (;;); })`], { limitMs: 1_000 })
    assert.match(result.failures.join(), /not finished after 1 s/)
  })

  it('fails for a process that a file leaves behind, as that file, and ends the process', async () => {
    const { result, text, files } = await runFiles([
      `import { spawn } from 'node:child_process'
      it('leaves a child', () => {
        const child = spawn('sleep', ['987'], { detached: true, stdio: 'ignore' })
        child.unref()
        console.log('pid=' + child.pid)
      })`,
      `it('leaves nothing', () => {})`,
    ])
    const [left, ...others] = result.files.filter((file) => file.failed > 0)
    assert.equal(left?.file, files[0])
    assert.match(String(left?.failures), /left a process behind: \d+ sleep 987/)
    assert.deepEqual(others, [])
    const pid = Number(/pid=(\d+)/.exec(text)?.[1])
    // A killed process whose parent does not reap it keeps its number, but no command.
    while (describeProcess(pid).command !== '') await delay(20)
  })

  it('runs in the network namespace that it is given', async function () {
    if (process.getuid?.() !== 0) return this.skip()
    const namespace = `roost-runner-${process.pid}`
    execFileSync('ip', ['netns', 'add', namespace])
    try {
      const source = `
        import { readlinkSync } from 'node:fs'
        it('tells where it is', () => console.log('at ' + readlinkSync('/proc/self/ns/net') + '.'))`
      const { text, failed } = await runFiles([source], { namespace })
      const own = execFileSync('ip', ['netns', 'exec', namespace, 'readlink', '/proc/self/ns/net'], {
        encoding: 'utf8',
      }).trim()
      assert.equal(failed, 0, text)
      assert.ok(text.includes(`at ${own}.`), text)
      assert.notEqual(own, readlinkSync('/proc/self/ns/net'))
    } finally {
      execFileSync('ip', ['netns', 'delete', namespace])
    }
  })
})

describe('output of groups side by side', () => {
  it('comes one group after the other, in the order in which they began', () => {
    let text = ''
    const turns = new OutputTurns((part) => (text += part))
    const first = turns.begin()
    const second = turns.begin()
    second.write('b1 ')
    first.write('a1 ')
    second.end()
    first.write('a2 ')
    const third = turns.begin()
    third.write('c1 ')
    first.end()
    third.write('c2')
    third.end()
    assert.equal(text, 'a1 a2 b1 c1 c2')
  })
})
