import assert from 'node:assert/strict'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { beginFirstBoot } from '../../../src/host/agent/first-boot.ts'
import { Machine, uuid } from './machine.ts'

const boot = { instanceUuid: uuid, boot: 1 }
const forced = { forced: true, graceMs: 0 } as const

describe('the first boot that the API begins', () => {
  let machine: Machine
  beforeEach(async () => {
    machine = await Machine.make()
  })
  afterEach(async () => {
    await machine.remove()
  })

  it("is the boot of the workflow's call, whichever comes first", async () => {
    const live = await machine.readyAgent({ vmm: { bootMs: 20 } })
    const early = beginFirstBoot(live.agent, uuid)
    const { started, exit } = await live.agent.start(boot)
    assert.equal(await early, true)
    assert.deepEqual([started.boot, exit, machine.host.starts], [1, undefined, 1])
    assert.equal(await beginFirstBoot(live.agent, uuid), false)
    assert.equal(machine.host.starts, 1)
  })

  it("is called off by the workflow's stop", async () => {
    const live = await machine.readyAgent({ vmm: { bootMs: 20 } })
    const early = beginFirstBoot(live.agent, uuid)
    await new Promise((resolve) => setImmediate(resolve))
    await live.agent.stop({ ...boot, ...forced })
    assert.equal(await early, false)
    assert.equal(machine.host.running(uuid), 0)
  })

  it('does not begin after the workflow has stopped the boot or removed the instance', async () => {
    const live = await machine.readyAgent()
    await live.agent.stop({ ...boot, ...forced })
    assert.equal(await beginFirstBoot(live.agent, uuid), false)
    await live.agent.remove({ instanceUuid: uuid })
    assert.equal(await beginFirstBoot(live.agent, uuid), false)
    assert.equal(machine.host.starts, 0)
  })

  it('does not begin where a record of an earlier agent has the instance', async () => {
    const first = await machine.readyAgent()
    await first.agent.start(boot)
    first.kill()
    const next = await machine.readyAgent()
    assert.equal(await beginFirstBoot(next.agent, uuid), false)
    assert.equal(machine.host.starts, 1)
  })

  it('gives up where the row says that the instance was stopped, because an earlier agent may have done it', async () => {
    const first = await machine.readyAgent()
    await first.agent.stop({ ...boot, ...forced })
    first.kill()
    machine.specs.set(uuid, { ...machine.specs.get(uuid)!, state: InstanceState.Stopped })
    const next = await machine.readyAgent()
    assert.equal(await beginFirstBoot(next.agent, uuid), false)
    assert.equal(machine.host.starts, 0)
  })

  it("goes on whatever the row says once the workflow's call has joined it", async () => {
    machine.specs.set(uuid, { ...machine.specs.get(uuid)!, state: InstanceState.Stopped })
    const live = await machine.readyAgent()
    const early = beginFirstBoot(live.agent, uuid)
    await live.agent.start(boot)
    assert.equal(await early, true)
    assert.equal(machine.host.running(uuid), 1)
  })

  it("ends quietly if it fails; the workflow's call reports the failure", async () => {
    const live = await machine.readyAgent()
    machine.specs.delete(uuid)
    assert.equal(await beginFirstBoot(live.agent, uuid), false)
    await assert.rejects(live.agent.start(boot))
  })
})
