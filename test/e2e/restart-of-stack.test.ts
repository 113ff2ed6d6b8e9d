import assert from 'node:assert/strict'
import { logOf, runInstance, viewOf, waitFor } from '../support/instances.ts'
import { processesOf, virtualMachinesOf } from '../support/processes.ts'
import { openPublicNames } from '../support/public-names.ts'
import { publish } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { roost } from '../support/roost-command.ts'
import { startStack } from '../support/stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const stopPromiseMs = 10_000
/** This port range lies beside those of the other stacks of the group. */
const portOffset = 12_000

describe('Ctrl-C and the next start', () => {
  let stack: Stack
  before(async () => {
    stack = await startStack()
    await runInstance(stack.api, { name: 'stays', image: 'hello' })
    await runInstance(stack.api, { name: 'rests', image: 'hello' })
    await stack.api.one('stopInstances', { object: 'rests' })
    await waitFor(stack.api, 'rests', 'stopped')
    await until('it listens', async () => (await logOf(stack.api, 'stays')).includes('listening'), {
      limitMs: 30_000,
    })
  })
  after(() => stack?.remove())

  it('end within 10 s without a process left behind', async () => {
    const tookMs = await stack.interrupt()
    assert.ok(tookMs < stopPromiseMs, `stopping took ${Math.round(tookMs)} ms`)
    assert.deepEqual(processesOf(stack.dataDir), [])
  })

  it('bring back all state and run again what ran, as a start by the platform and not as a restart', async () => {
    await stack.startAgain()
    // The row may still describe the VM of the earlier run.
    const stays = await until(
      'it runs again',
      async () => {
        const seen = await viewOf(stack.api, 'stays')
        return seen.state === 'running' && seen.start_count !== 1 && seen
      },
      { limitMs: 60_000 },
    )
    assert.equal(stays.start_count, 2)
    assert.equal(stays.restart_count, 0)
    assert.equal(virtualMachinesOf(stays.uuid).length, 1)
    assert.ok((await logOf(stack.api, 'stays')).includes('listening on 8080'))
    const rests = await viewOf(stack.api, 'rests')
    assert.equal(rests.state, 'stopped')
    assert.equal(rests.stop_reason, 15)
    assert.equal(rests.start_count, 1)
  })
})

describe('a halt that keeps virtual machines, and the next start', () => {
  let stack: Stack
  let instance: Published
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await startStack({ ROOST_PORT_OFFSET: String(portOffset) })
    instance = await publish(stack, 'kept')
  })
  after(() => stack?.remove())

  /** Asks the application through the gateway how many requests it has had. It counts in its memory. */
  async function ask(): Promise<number> {
    const names = openPublicNames(stack, { portOffset })
    try {
      const answer = await until(
        'the instance answers',
        async () => {
          const seen = await names.get(`https://${instance.host}/count`).catch(() => undefined)
          return seen?.status === 200 && seen
        },
        { limitMs: 30_000 },
      )
      return Number(answer.text)
    } finally {
      await names.close()
    }
  }
  const virtualMachines = (): readonly number[] => virtualMachinesOf(instance.uuid).map(({ pid }) => pid)

  it('leave the VM running, in the same boot, and the gateway leads to it again', async () => {
    const counted = await ask()
    const before = virtualMachines()
    assert.equal(before.length, 1)

    const { stdout } = await roost(stack, 'halt', '--keep-vms')
    assert.match(stdout, /has ended\. 1 virtual machine runs on, and the next start takes it over\.$/m)
    await stack.ended()
    assert.match(stack.output(), /stopping on SIGUSR2: leaves 1 virtual machine running/)
    assert.deepEqual(virtualMachines(), before)
    const again = await roost(stack, 'halt').catch((error: { readonly stderr?: string }) => error)
    assert.match(again.stderr ?? '', /no platform runs in .*1 virtual machine runs on/)

    await stack.startAgain()
    assert.ok((await ask()) > counted, 'the application counts on')
    assert.deepEqual(virtualMachines(), before)
    const { state, start_count, restart_count } = await viewOf(stack.api, instance.name)
    assert.deepEqual([state, start_count, restart_count], ['running', 1, 0])
  })

  it('end the VM if they are not told to keep it', async () => {
    const { stdout } = await roost(stack, 'halt')
    assert.match(stdout, /has ended, and 1 virtual machine with it\. No virtual machine runs\.$/m)
    await stack.ended()
    assert.deepEqual(processesOf(stack.dataDir), [])
  })
})
