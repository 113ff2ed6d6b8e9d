import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tarLayer } from '../support/oci-image.ts'
import { until } from '../support/until.ts'
import { HeldTool } from './held-tool.ts'
import { assertFails, hostFixture, leftovers, stored } from './host-fixture.ts'
import { bobUuid, wanted } from './wanted-image.ts'

/** Lines that a process that unpacks must not write. */
const noReports = [
  'SyntaxError of a hostile image',
  'null',
  '{"kind":"merged","bytes":"many"}',
  '{"kind":"refused"}',
  '{"kind":"done"}',
  '{"kind":"done","unpacked":{"kind":"kernel"}}',
]

describe('the process that unpacks an image', () => {
  const host = hostFixture()
  let tool: HeldTool
  beforeEach(async () => {
    tool = await HeldTool.make()
  })
  afterEach(() => tool.remove())

  it('has bounds, nothing of the environment, and as root a user of its own without network', async () => {
    const images = await host.open({ sqfstar: tool.path })
    images.prepare(wanted(await host.push([{ name: 'file' }]))).catch(() => undefined)
    assert.equal(await tool.note('oom'), '1000')
    assert.equal(await tool.note('privileges'), '1')
    assert.equal(await tool.note('variables'), 'LC_ALL PATH PWD')
    const notes = await tool.notes()
    for (const bound of ['core file size', 'processes', 'open files', 'file size', 'cpu time', 'data size']) {
      assert.match(notes, new RegExp(`^Max ${bound} +\\d`, 'm'))
    }
    assert.equal(await tool.note('capabilities'), '0000000000000000')
    if (process.getuid?.() !== 0) return
    assert.ok(Number(await tool.note('user')) >= 0x3fff_0000)
    assert.equal((await tool.note('groups')).split(' ').length, 1)
    assert.equal(await tool.note('interfaces'), 'lo')
  })

  it('gets a lower priority when it takes longer than a small image does', async () => {
    const images = await host.open({ sqfstar: tool.path })
    images.prepare(wanted(await host.push([{ name: 'file' }]))).catch(() => undefined)
    await until('its priority is lower', async () => (await tool.niceness()) === 10, { limitMs: 5_000 })
  })

  it('ends at once when the agent closes, with all that it started', async () => {
    const images = await host.open({ sqfstar: tool.path })
    const prepared = images.prepare(wanted(await host.push([{ name: 'file' }])))
    prepared.catch(() => undefined)
    assert.ok(await tool.runs())
    const beganMs = performance.now()
    await images.close()
    const tookMs = performance.now() - beganMs
    await assert.rejects(prepared)
    await until('the tool has ended', async () => !(await tool.runs()), { limitMs: 2_000 })
    assert.deepEqual(await leftovers(host.directory), [])
    assert.ok(tookMs < 5_000, `${tookMs} ms`)
  })

  it('ends when its agent is killed', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'roost-unpack-'))
    try {
      await writeFile(join(directory, 'layer'), await tarLayer([{ name: 'file' }]))
      const victim = join(import.meta.dirname, 'unpack-victim.ts')
      const agent = spawn(process.execPath, [victim, directory, tool.path], { stdio: 'ignore' })
      assert.ok(await tool.runs())
      agent.kill('SIGKILL')
      await until('the tool has ended', async () => !(await tool.runs()), { limitMs: 5_000 })
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it('is ended when it has used the processor time of its image, which is then unusable', async () => {
    const images = await host.open({ sqfstar: tool.path, limits: { minUnpackSeconds: 1 } })
    await assertFails(
      images.prepare(wanted(await host.push([{ name: 'file' }]))),
      'ImageUnusable',
      /more than 2 s of processor time/,
    )
    assert.equal(await tool.runs(), false)
  })

  it('is ended after the longest time for an image, which counts as a fault of the host', async () => {
    const images = await host.open({ sqfstar: tool.path, limits: { maxMakingMs: 1_000 } })
    await assertFails(
      images.prepare(wanted(await host.push([{ name: 'file' }]))),
      'HostFull',
      /did not finish the image within 1 s/,
    )
    assert.deepEqual(await leftovers(host.directory), [])
  })

  it('is not trusted: its result must be a regular file, and its output has a bound', async () => {
    const unpackProgram = join(import.meta.dirname, 'false-unpacker.ts')
    const images = await host.open({ unpackProgram, sqfstar: 'link' })
    await assert.rejects(images.prepare(wanted(await host.push([{ name: 'file' }]))), /ELOOP|too many/)
    assert.deepEqual(await leftovers(host.directory), [])
    const talking = await host.open({ unpackProgram, sqfstar: 'talk' })
    await assert.rejects(talking.prepare(wanted(await host.push([{ name: 'other' }]))))
    for (const [index, line] of noReports.entries()) {
      const lying = await host.open({ unpackProgram, sqfstar: `say ${line}` })
      await assert.rejects(lying.prepare(wanted(await host.push([{ name: `no-report-${index}` }]))), {
        name: 'UnpackerFault',
        message: `the process that unpacks says what is no report: ${line}`,
      })
    }
    assert.deepEqual(await leftovers(host.directory), [])
  })

  it('of one user leaves a slot for the others', async () => {
    const images = await host.open({ sqfstar: tool.path })
    for (const name of ['a', 'b', 'c']) {
      images.prepare(wanted(await host.push([{ name }]))).catch(() => undefined)
    }
    await tool.notes()
    const kernel = { name: 'unikraft/bin/kernel', content: Buffer.alloc(1_000) }
    kernel.content.write('HdrS', 0x202)
    // An image with a kernel needs no squashfs. So the tool, which never ends, does not run for it.
    const other = await images.prepare(wanted(await host.push([kernel]), bobUuid))
    assert.deepEqual(await stored(host.directory), [other.digest])
  })
})
