import assert from 'node:assert/strict'
import { footprintMb } from '../../../src/domain/host/memory-room.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import { AgentMetrics } from '../../../src/host/agent/agent-metrics.ts'
import { readConsole } from '../../../src/host/console/console-reader.ts'
import { pass, TestGateway } from '../leases/gateway.ts'
import { otherUuid, uuid } from '../agent/machine.ts'
import { StandbyScene, stateful } from '../leases/standby-scene.ts'

/** The memory for exactly one instance of `Machine`. */
const memory = { totalMb: footprintMb(128) + 512, reserveMb: 512, overcommit: 1 }

describe('an agent whose host has memory for one instance', () => {
  let scene: StandbyScene

  beforeEach(async () => {
    scene = await StandbyScene.make()
  })
  afterEach(async () => {
    await scene.remove()
  })

  const startOther = async (boot: number) => await scene.live.agent.start({ instanceUuid: otherUuid, boot })

  it('refuses the second with the figures, in the console too, and starts it when the first has ended', async () => {
    await scene.running(stateful, { vmm: { memory } })
    await assert.rejects(startOther(1), {
      failure: 'HostFull',
      final: false,
      message: /needs 192 MiB .*192 of 192 MiB/,
    })
    const directory = scene.live.ports.store.consoleDirectory(otherUuid)
    const { outputBase64 } = await readConsole(directory, { offset: 0, limit: 4_096 })
    assert.match(
      Buffer.from(outputBase64, 'base64').toString(),
      /^\[roost\] could not start: the host has no memory left/,
    )
    await scene.live.agent.stop({ instanceUuid: uuid, boot: 1, forced: true, graceMs: 0 })
    assert.equal((await startOther(1)).started.boot, 1)
  })

  it('refuses before it pulls an image or prepares anything', async () => {
    const pulled: string[] = []
    const images = { pull: async () => await Promise.resolve(void pulled.push('image')) }
    await scene.running(stateful, { vmm: { memory }, images })
    assert.deepEqual(pulled.splice(0), ['image'])
    const spec = scene.machine.specs.get(otherUuid)
    assert.ok(spec !== undefined)
    scene.machine.specs.set(otherUuid, { ...spec, image: `user/other@sha256:${'1'.repeat(64)}` })
    await assert.rejects(startOther(1), { failure: 'HostFull' })
    assert.deepEqual(pulled, [])
    await scene.live.agent.stop({ instanceUuid: uuid, boot: 1, forced: true, graceMs: 0 })
    await startOther(1)
    assert.deepEqual(pulled, ['image'])
  })

  it('refuses a wake likewise, and keeps the sleeper’s snapshot for the next wake', async () => {
    await scene.asleep(stateful, { vmm: { memory } })
    await startOther(1)
    const gateway = new TestGateway(scene.live).connect()
    gateway.open()
    const refused = await gateway.next('refused')
    assert.deepEqual([refused.reason, refused.failure], ['failed', 'HostFull'])
    await scene.live.agent.stop({ instanceUuid: otherUuid, boot: 1, forced: true, graceMs: 0 })
    pass(scene.machine, scene.live, 1_000)
    const opened = await gateway.opened()
    assert.deepEqual([opened.boot, opened.woken?.kind], [2, StartKind.Restore])
  })

  it('counts the VMs that the last agent started, and has all of it in its metrics', async () => {
    await scene.running(stateful, { vmm: { memory } })
    scene.live.kill()
    await scene.nextAgent({ vmm: { memory } })
    await assert.rejects(startOther(1), { failure: 'HostFull' })
    const { vmm } = scene.live.ports
    const text = await new AgentMetrics(new Map(), { memory: () => vmm.memory() }).registry.metrics()
    const mib = 1024 * 1024
    for (const line of [
      `roost_agent_memory_bytes{of="total"} ${704 * mib}`,
      `roost_agent_memory_bytes{of="reserve"} ${512 * mib}`,
      `roost_agent_memory_bytes{of="limit"} ${192 * mib}`,
      `roost_agent_memory_bytes{of="instances"} ${192 * mib}`,
      `roost_agent_memory_bytes{of="templates"} 0`,
      'roost_agent_memory_refusals_total 1',
    ]) {
      assert.ok(text.includes(`${line}\n`), `${line} is in:\n${text}`)
    }
  })
})
