import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { Machine, uuid } from './machine.ts'

/** Much longer than a write takes. The write of a dead agent never ends. */
const patienceMs = 200

describe('a machine of a timeline', () => {
  it('has no directory once it is removed, whatever its agents still write', async () => {
    const machine = await Machine.make()
    const live = await machine.readyAgent()
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    const { record } = live.agent.entries.get(uuid) ?? {}
    assert.ok(record !== undefined)
    const write = async (): Promise<void> => await live.ports.store.save(record, { durable: true })
    void write().catch(() => undefined)
    await machine.remove()
    await Promise.race([write(), delay(patienceMs)])
    assert.equal(existsSync(machine.directory), false)
  })
})
