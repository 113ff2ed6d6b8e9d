import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { sharedStack } from '../support/shared-stack.ts'

const run = promisify(execFile)
const readme = readFileSync(path.resolve(import.meta.dirname, '../../README.md'), 'utf8')

/** The commands of the tour, with the test's stack in place of the reader's. */
function tourFor(stack: { readonly apiUrl: string; readonly dataDir: string }): string {
  const block = /## A tour[^]*?```sh\n([^]*?)```/.exec(readme)?.[1]
  assert.ok(block, 'README.md has no tour')
  assert.ok(block.includes('http://127.0.0.1:7070/v1') && block.includes('.roost/token'))
  return block
    .replaceAll('http://127.0.0.1:7070', stack.apiUrl)
    .replaceAll('.roost/token', path.join(stack.dataDir, 'token'))
}

describe('the tour of the README', () => {
  it('works as it is pasted', async function () {
    if (process.getuid?.() !== 0) return this.skip()
    const stack = await sharedStack()
    const { stdout, stderr } = await run('bash', ['-c', tourFor(stack)], {
      timeout: 200_000,
      // npm warns about the machine's own settings. Such warnings are no part of the tour.
      env: { ...process.env, ROOST_DATA_DIR: stack.dataDir, npm_config_loglevel: 'error' },
    })
    assert.equal(stderr.replaceAll(/^npm warn .*\n/gm, ''), '')
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
