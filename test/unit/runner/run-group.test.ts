import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { summaryLine } from '../../runner/group-result.ts'
import type { GroupResult } from '../../runner/group-result.ts'
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
  async function run(source: string, limitMs = 10_000): Promise<GroupResult & { readonly text: string }> {
    const name = `sample${++runs}`
    const file = path.join(directory, `${name}.test.mjs`)
    writeFileSync(file, source)
    let text = ''
    const { result } = await runGroup(
      { name, files: [file], testTimeoutMs: 1_000, limitMs, shares: false },
      { mark: `${process.pid}/runner/${runs}`, env: process.env, write: (part) => (text += part) },
    )
    return { ...result, text }
  }

  it('counts what passed, failed and was left out', async () => {
    const result = await run(`
      it('holds', () => {})
      it('does not hold', () => { throw new Error('because') })
      it('is left out')`)
    assert.equal(summaryLine(result), '1 passed, 1 failed, 1 skipped')
    assert.deepEqual(result.failures, ['does not hold'])
    assert.match(result.text, /because/)
  })

  it('fails when it runs no test', async () => {
    assert.match((await run('')).failures.join(), /ran no test/)
  })

  it('fails when its process ends before the tests do', async () => {
    assert.match(
      (await run(`it('leaves', () => process.exit(0))`)).failures.join(),
      /crashed \(exit code 0\)/,
    )
  })

  it('fails when a file can not be loaded', async () => {
    const result = await run(`throw new Error('no such thing')`)
    assert.equal(result.failed, 1)
    assert.match(result.text, /no such thing/)
  })

  it('is ended at its time limit', async () => {
    const result = await run(`it('spins', () => { for (;;); })`, 1_000)
    assert.match(result.failures.join(), /not finished after 1 s/)
  })

  it('fails for a process that it leaves behind, and ends that process', async () => {
    const result = await run(`
      import { spawn } from 'node:child_process'
      it('leaves a child', () => {
        const child = spawn('sleep', ['987'], { detached: true, stdio: 'ignore' })
        child.unref()
        console.log('pid=' + child.pid)
      })`)
    assert.match(result.failures.join(), /left a process behind: \d+ sleep 987/)
    const pid = Number(/pid=(\d+)/.exec(result.text)?.[1])
    // A killed process whose parent does not reap it keeps its number, but no command.
    while (describeProcess(pid).command !== '') await delay(20)
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
