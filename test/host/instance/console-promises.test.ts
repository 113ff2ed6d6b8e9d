import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConsolePromises } from '../../../src/host/instance/console-promises.ts'
import { InstanceStore } from '../../../src/host/instance/store.ts'
import { ConsoleWriter } from '../../../src/host/console/console-writer.ts'

const one = '00000000-0000-4000-8000-000000000001'
const two = '00000000-0000-4000-8000-000000000002'
const mebibyte = 1024 * 1024

describe('what consoles may still write', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'roost-consoles-'))
  })
  afterEach(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  it('is 5 MiB for each instance, less what its console has, as measured once a minute', async () => {
    const store = new InstanceStore(directory)
    const instances = [one]
    let nowMs = 0
    const promises = new ConsolePromises({ directory, store, instances: () => instances, nowMs: () => nowMs })
    assert.equal(await promises.unwrittenBytes(), 5 * mebibyte)
    const writer = new ConsoleWriter(store.consoleDirectory(one))
    await writer.append(Buffer.alloc(3 * mebibyte, 'x'))
    assert.equal(await promises.unwrittenBytes(), 5 * mebibyte)
    instances.push(two)
    assert.equal(await promises.unwrittenBytes(), 10 * mebibyte)
    nowMs += 60_000
    assert.equal(await promises.unwrittenBytes(), 7 * mebibyte)
    // A console has at most 4 MiB, and one more for a moment.
    await writer.append(Buffer.alloc(20 * mebibyte, 'x'))
    nowMs += 60_000
    assert.equal(await promises.unwrittenBytes(), 6 * mebibyte)
    instances.shift()
    assert.equal(await promises.unwrittenBytes(), 5 * mebibyte)
  })
})
