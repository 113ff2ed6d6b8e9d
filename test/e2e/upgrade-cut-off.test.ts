import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import path from 'node:path'
import process from 'node:process'
import { once } from 'node:events'
import { runInstance, viewOf } from '../support/instances.ts'
import { makeNextVersion } from '../support/next-version.ts'
import type { NextVersion } from '../support/next-version.ts'
import { processesOf } from '../support/processes.ts'
import { startStack } from '../support/stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const limitMs = 60_000
/** All parts end within ten seconds, and the upgrade has to notice it. */
const endLimitMs = 15_000

describe('Ctrl-C in the middle of an upgrade', () => {
  let stack: Stack
  let version: NextVersion
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await startStack()
    version = makeNextVersion('0.1.1')
    await runInstance(stack.api, { name: 'stays', image: 'hello' })
  })
  after(async () => {
    await stack?.remove()
    version?.remove()
  })

  for (const part of ['worker', 'agent'])
    it(`ends everything in order, and tells that it was cut off, while the exchange of the ${part} comes next or is under way`, async () => {
      const { start_count: boots = 0 } = await viewOf(stack.api, 'stays')
      const program = path.join(version.checkout, 'src/bin/roost.ts')
      const child = spawn(process.execPath, [program, 'upgrade', stack.dataDir], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let text = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      const before = { worker: 'api', agent: 'worker' }[part] ?? ''
      await until(`${before} is exchanged`, () => text.includes(`${before} is of the next version`), {
        limitMs,
      })
      const isTold = async () => {
        const { upgrade } = await stack.api.one('getHosts', { object: 'local' })
        return upgrade?.state === 'exchanging' && upgrade.progress !== undefined
      }
      await until('the API tells that it is under way', isTold, { limitMs })
      const tookMs = await stack.interrupt()
      if (child.exitCode === null) await once(child, 'exit')
      assert.ok(tookMs < endLimitMs, `it took ${tookMs} ms`)
      assert.deepEqual(processesOf(stack.dataDir), [])
      assert.doesNotMatch(text, /is of version/)
      await stack.startAgain()
      const runs = async () => {
        const seen = await viewOf(stack.api, 'stays')
        return seen.state === 'running' && seen.start_count === boots + 1 && seen.restart_count === 0
      }
      await until('what ran runs again, as after any end of the platform', runs, { limitMs })
      const { upgrade, failure } = await stack.api.one('explainHosts', { object: 'local' })
      assert.partialDeepStrictEqual(upgrade, { state: 'cut-off', to: version.version })
      assert.match(failure ?? '', /^the platform ended at .* in the middle of the upgrade to Roost 0\.1\.1$/)
      const [last] = await stack.api.call('listEvents', { query: { kind: 'host.upgrade', count: '1' } })
      assert.equal(last?.to, 'cut-off')
    })
})
