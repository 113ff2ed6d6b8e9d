import assert from 'node:assert/strict'
import process from 'node:process'
import type { TLSSocket } from 'node:tls'
import { machineMemoryBytes } from '../../src/bin/machine-memory.ts'
import { footprintMb } from '../../src/domain/host/memory-room.ts'
import { viewOf, waitFor } from '../support/instances.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { linePort, publish, untilAsleep } from '../support/published-instance.ts'
import { virtualMachinesOf } from '../support/processes.ts'
import { roost } from '../support/roost-command.ts'
import { startStack } from '../support/stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const memoryMb = 128
const startLimitMs = 60_000
const asleepAtOnce = { policy: 'on', cooldown_time_ms: 200, stateful: true }

describe('a host with memory for one instance', () => {
  let stack: Stack
  let names: PublicNames
  before(async () => {
    const reserveMb = Math.floor(machineMemoryBytes() / 1024 ** 2) - footprintMb(memoryMb)
    stack = await startStack({ ROOST_MEMORY_RESERVE_MB: String(reserveMb) })
    names = openPublicNames(stack)
  })
  after(async () => {
    await names?.close()
    await stack?.remove()
  })

  const create = (name: string) =>
    stack.api.attempt('createInstances', {
      body: { name, image: 'hello', memory_mb: memoryMb, autostart: true, wait_timeout_ms: startLimitMs },
    })
  const stop = async (name: string): Promise<void> => {
    await stack.api.one('stopInstances', { object: name })
    await waitFor(stack.api, name, 'stopped')
  }

  it('refuses a second with the figures, and takes it when the first has gone', async () => {
    const first = (await create('first')).entries[0]
    assert.equal(first?.status, 'success', JSON.stringify(first))
    const refused = (await create('second')).entries[0]
    assert.ok(refused?.status === 'error' && refused.error === 9, JSON.stringify(refused))
    assert.match(refused.message, /^No host has memory for an instance of 192 MiB.*has left is 0 MiB/)
    await stop('first')
    const second = (await create('second')).entries[0]
    assert.equal(second?.status, 'success', JSON.stringify(second))
    await stop('second')
  })

  it('refuses a start itself where the rows still say that a woken instance sleeps', async () => {
    const sleeper = await publish(stack, 'sleeper', { memory_mb: memoryMb, scale_to_zero: asleepAtOnce })
    await untilAsleep(stack, sleeper.uuid)
    // While the worker is halted, nobody writes down what the host reports: the instance wakes, but its row
    // goes on saying that it sleeps.
    const worker = stack.pidOf('worker')
    process.kill(worker, 'SIGSTOP')
    let connection: TLSSocket | undefined
    try {
      connection = await names.connect(sleeper.host, linePort)
      await until('it is awake', () => virtualMachinesOf(sleeper.uuid).length > 0, { limitMs: startLimitMs })
      const creating = create('late')
      const isThere = async () => (await stack.api.call('listInstances')).some(({ name }) => name === 'late')
      await until('its row is there', isThere, { limitMs: startLimitMs })
      process.kill(worker, 'SIGCONT')
      const late = (await creating).entries[0]
      assert.ok(late?.status === 'error' && late.error === 9, JSON.stringify(late))
      assert.match(late.message, /the host has no memory left.*192 MiB/)
      assert.match((await roost(stack, 'explain', 'late')).stdout, /192 MiB/)
      assert.equal((await viewOf(stack.api, sleeper.uuid)).state, 'running')
    } finally {
      process.kill(worker, 'SIGCONT')
      connection?.destroy()
    }
  })
})
