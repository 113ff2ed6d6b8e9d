import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceText } from '../../../src/host/agent/record-file.ts'
import { seen } from '../leases/gateway.ts'
import { Machine, uuid, volumeUuid } from './machine.ts'
import type { LiveAgent } from './machine.ts'
import { SmallDisk } from '../vmm/small-disk.ts'

const boot = { instanceUuid: uuid, boot: 1 }

describe('a host whose disk is full', () => {
  let disk: SmallDisk
  let machine: Machine
  let live: LiveAgent

  beforeEach(async () => {
    disk = await SmallDisk.open(4)
    const directory = join(disk.directory, 'agent')
    await mkdir(directory)
    machine = new Machine(directory)
    machine.attach(uuid)
    live = await machine.readyAgent()
    await live.agent.start(boot)
  })
  afterEach(async () => {
    live.kill()
    await live.written()
    await machine.remove()
    await disk.close()
  })
  const holder = (): string | undefined => machine.volumes.held.get(volumeUuid)

  it('stops an instance, and the next agent knows that', async () => {
    await disk.fillUp()
    const { exit } = await live.agent.stop({ ...boot, forced: true, graceMs: 0 })
    assert.equal(exit?.cause, 'forced')
    assert.equal(holder(), undefined)
    live.kill()
    await live.written()
    live = await machine.readyAgent()
    assert.deepEqual(live.agent.entries.get(uuid)?.record?.exit, exit)
  })

  it('records that an instance ended by itself', async () => {
    await disk.fillUp()
    machine.host.end(boot, { cause: 'guest', exitCode: 3 })
    await seen('it was reported', () => machine.reports.some(({ exitCode }) => exitCode === 3))
    assert.equal(holder(), undefined)
  })

  it('removes an instance, which makes room', async () => {
    await disk.fillUp()
    await live.agent.remove({ instanceUuid: uuid })
    assert.equal(holder(), undefined)
    assert.equal(live.agent.entries.get(uuid), undefined)
  })

  describe('and a text that is to be replaced', () => {
    const full = { code: 'ENOSPC' }
    const how = { durable: true }

    it('is replaced in place by a shorter and by a longer one', async () => {
      const file = join(disk.directory, 'text')
      await replaceText(file, '{"a":"long"}', how)
      await disk.fillUp()
      await replaceText(file, '{"a":1}', how)
      assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), { a: 1 })
      await replaceText(file, '{"a":"much longer"}', how)
      assert.equal(await readFile(file, 'utf8'), '{"a":"much longer"}')
    })

    it('stays as it is if the next one does not fit in its place', async () => {
      const file = join(disk.directory, 'text')
      await replaceText(file, 'short', how)
      await disk.fillUp()
      await assert.rejects(replaceText(file, 'x'.repeat(4_097), how), full)
      assert.equal(await readFile(file, 'utf8'), 'short')
      await assert.rejects(replaceText(join(disk.directory, 'other'), 'x', how), full)
    })
  })
})
