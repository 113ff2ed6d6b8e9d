import assert from 'node:assert/strict'
import { HeldPulls } from '../../images/held-pulls.ts'
import { Machine, uuid } from '../agent/machine.ts'

const boot = { instanceUuid: uuid, boot: 1 }

describe('an agent whose host needs long for an image', () => {
  let machine: Machine
  let pulls: HeldPulls
  beforeEach(async () => {
    machine = await Machine.make()
    pulls = new HeldPulls()
  })
  afterEach(async () => {
    await machine.remove()
  })

  it('removes an instance at once, and begins no second pull for the next one', async () => {
    const { agent } = await machine.readyAgent({ images: { pull: pulls.pull } })
    const start = agent.start(boot)
    start.catch(() => undefined)
    await pulls.begun()
    await agent.remove({ instanceUuid: uuid })
    await assert.rejects(start)
    assert.equal(agent.entries.size, 0)
    assert.equal(machine.network.attached.size, 0)
    const again = agent.start(boot)
    pulls.letGo()
    await again
    assert.equal(machine.host.running(uuid), 1)
    assert.equal(pulls.count, 1)
  })

  it('gives up a start at once when its caller does', async () => {
    const { agent } = await machine.readyAgent({ images: { pull: pulls.pull } })
    const start = agent.start(boot)
    start.catch(() => undefined)
    await pulls.begun()
    await agent.abandon(boot)
    await assert.rejects(start)
    assert.equal(machine.network.attached.size, 0)
    pulls.letGo()
    await agent.start(boot)
    assert.equal(pulls.count, 1)
  })
})
