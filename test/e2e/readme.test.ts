import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { sharedStack } from '../support/shared-stack.ts'

const run = promisify(execFile)

/** The commands of a document's tour. */
function tourOf(file: string): string {
  const text = readFileSync(path.resolve(import.meta.dirname, '../..', file), 'utf8')
  const block = /## A tour[^]*?```sh\n([^]*?)```/.exec(text)?.[1]
  assert.ok(block, `${file} has no tour`)
  return block
}

/** The commands of the tour with curl, with the test's stack in place of the reader's. */
function curlTourFor(stack: { readonly apiUrl: string; readonly dataDir: string }): string {
  const block = tourOf('docs/api.md')
  assert.ok(block.includes('http://127.0.0.1:7070/v1') && block.includes('.roost/token'))
  return block
    .replaceAll('http://127.0.0.1:7070', stack.apiUrl)
    .replaceAll('.roost/token', path.join(stack.dataDir, 'token'))
}

/** Pastes commands into a shell on the machine of the stack. Nothing but npm may complain. */
async function pasted(commands: string, dataDir: string): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'roost-tour-'))
  try {
    const { stdout, stderr } = await run('bash', ['-c', commands], {
      timeout: 200_000,
      // npm warns about the machine's own settings. Such warnings are no part of the tour.
      env: { ...process.env, ROOST_DATA_DIR: dataDir, XDG_CONFIG_HOME: home, npm_config_loglevel: 'error' },
    })
    assert.equal(stderr.replaceAll(/^npm warn .*\n/gm, ''), '')
    return stdout
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

describe('the tour of the README', () => {
  it('has at most 15 lines, and works as it is pasted', async function () {
    const tour = tourOf('README.md')
    assert.ok(tour.trimEnd().split('\n').length <= 15)
    if (process.getuid?.() !== 0) return this.skip()
    const stack = await sharedStack()
    const stdout = await pasted(tour, stack.dataDir)
    for (const expected of [
      /^hello is running, booted in \d+ ms/m,
      /^hello +running /m,
      /^https:\/\/web\./m,
      /^1$/m,
      /^web +standby /m,
      /^web is asleep/m,
      /^2$/m,
      /instance\.state +web /,
      /^notes is created$/m,
      /^remembered$/m,
      /^reader is deleted$/m,
      /^notes is deleted$/m,
    ]) {
      assert.match(stdout, expected)
    }
  })
})

describe('the tour with curl', () => {
  it('works as it is pasted', async function () {
    if (process.getuid?.() !== 0) return this.skip()
    const stack = await sharedStack()
    const stdout = await pasted(curlTourFor(stack), stack.dataDir)
    for (const expected of [
      /"state":"running"/,
      /"boot_time_us":\d+/,
      /Hello from hello/,
      /^1$/m,
      /"state":"standby"/,
      /^web is asleep/m,
      /^2$/m,
      /Hello from shop/,
      /^shop\.example\.test-\S+ is served for shop\.example\.test/m,
      /^ +\d+ busy burned 80 ms$/m,
      /^ +\d+ busy-[a-z0-9]{5} burned 80 ms$/m,
      /busy-[a-z0-9]{5}[^]*\bload\b/,
      /^.*listening on 8080/m,
      /^instance_rss_bytes\{/m,
      /"state":"stopped"/,
      /^"stop_reason":15$/m,
      /^"restart":\{"attempt":\d+/m,
      /"previous_state":"running"/,
    ]) {
      assert.match(stdout, expected)
    }
    assert.doesNotMatch(stdout, /"status":"error"/)
  })
})
