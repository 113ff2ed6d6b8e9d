import assert from 'node:assert/strict'
import { AgentMetrics } from '../../../src/host/agent/agent-metrics.ts'
import { readConsole } from '../../../src/host/console/console-reader.ts'
import { seen } from '../leases/gateway.ts'
import { Machine, uuid } from '../agent/machine.ts'
import type { LiveAgent } from '../agent/machine.ts'

const boot = { instanceUuid: uuid, boot: 1 }

describe('a VM that waits for room on the disk of its host', () => {
  let machine: Machine
  let live: LiveAgent

  beforeEach(async () => {
    machine = await Machine.make()
    machine.attach(uuid)
    live = await machine.readyAgent()
    await live.agent.start(boot)
  })
  afterEach(async () => {
    live.kill()
    await live.written()
    await machine.remove()
  })

  async function lines(): Promise<readonly string[]> {
    const window = { offset: 0, limit: 10_000 }
    const { outputBase64 } = await readConsole(live.ports.store.consoleDirectory(uuid), window)
    const text = Buffer.from(outputBase64, 'base64').toString()
    return text.split('\n').filter((line) => line.startsWith('[roost]'))
  }

  async function toldTimes(count: number): Promise<readonly string[]> {
    for (;;) {
      const told = await lines()
      if (told.length >= count) return told
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  it('says so in its console, when it begins and when it ends', async () => {
    machine.host.setStalled(boot, true)
    assert.match((await toldTimes(1))[0] ?? '', /stands still: the disk of its host is full/)
    machine.nowMs += 12_000
    machine.host.setStalled(boot, false)
    assert.match((await toldTimes(2))[1] ?? '', /goes on: .* after 12 s/)
    assert.deepEqual(live.log, ['the disk of this host is full: a VM stands still until there is room'])
  })

  it('shows in what the host answers about it, for as long as it lasts', async () => {
    assert.equal(live.agent.leases.hostLease(uuid)?.stalledSinceMs, undefined)
    machine.host.setStalled(boot, true)
    assert.equal(live.agent.leases.hostLease(uuid)?.stalledSinceMs, machine.nowMs)
    machine.host.setStalled(boot, false)
    assert.equal(live.agent.leases.hostLease(uuid)?.stalledSinceMs, undefined)
  })

  it('counts in the metrics', async () => {
    const metrics = new AgentMetrics(live.agent.entries, {
      volumeRoom: async () => await machine.volumes.room(),
    })
    machine.host.setStalled(boot, true)
    const text = await metrics.registry.metrics()
    assert.match(text, /^roost_agent_stalled_instances 1$/m)
    assert.match(text, /^roost_agent_volume_room_bytes\{of="promised"\} 104857600$/m)
    assert.match(text, /^roost_agent_volumes 1$/m)
  })

  it('leaves the metrics readable even if the room of the disk can not be read', async () => {
    const room = async (): Promise<never> => await Promise.reject(new Error('a disk that fails'))
    const text = await new AgentMetrics(live.agent.entries, { volumeRoom: room }).registry.metrics()
    assert.match(text, /^roost_agent_instances/m)
    assert.doesNotMatch(text, /^roost_agent_volume_room_bytes\{/m)
  })

  it('is found by a look if its report was lost', async () => {
    const vm = machine.host.find(boot)
    assert.ok(vm !== undefined)
    vm.stalled = true
    await live.agent.check()
    assert.equal(live.agent.leases.hostLease(uuid)?.stalledSinceMs, machine.nowMs)
  })

  it('is known to the next agent, which does not say so again but says when it is over', async () => {
    machine.host.setStalled(boot, true)
    await toldTimes(1)
    live.kill()
    live = await machine.readyAgent()
    assert.equal(live.agent.leases.hostLease(uuid)?.stalledSinceMs, machine.nowMs)
    await live.agent.check()
    machine.host.setStalled(boot, false)
    assert.equal((await toldTimes(2)).length, 2)
  })

  it('does not wait any more when it has ended', async () => {
    machine.host.setStalled(boot, true)
    await live.agent.stop({ ...boot, forced: true, graceMs: 0 })
    await seen('it is over', () => live.agent.leases.hostLease(uuid)?.stalledSinceMs === undefined)
  })
})
