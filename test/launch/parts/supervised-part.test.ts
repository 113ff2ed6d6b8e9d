import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PlatformEnd } from '../../../src/launch/end-signals.ts'
import { SupervisedPart } from '../../../src/launch/parts/supervised-part.ts'
import { until } from '../../support/until.ts'
import { createFakeParts } from './fake-parts.ts'
import type { FakeParts } from './fake-parts.ts'

const limitMs = 30_000

describe('one part of a stack', () => {
  let directory: string
  let fake: FakeParts
  let closing: AbortController
  let part: SupervisedPart
  let prepared: number

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-part-'))
    fake = createFakeParts(directory)
    closing = new AbortController()
    prepared = 0
    const one = { ...fake.part('one'), afterFirstReady: async () => void prepared++ }
    part = new SupervisedPart(one, fake.options([]), closing.signal)
  })
  afterEach(async () => {
    await stop()
    rmSync(directory, { recursive: true, force: true })
  })

  const stop = async (): Promise<void> =>
    await part.stop({ deadlineMs: Date.now() + limitMs, end: PlatformEnd.EndVms })
  const readyCount = (): number => fake.journal().filter((line) => line === 'ready one').length
  const runDirectory = (): string => path.join(directory, 'run')

  it('is stopped and started again alone, and what follows its first start is done once', async () => {
    await part.start()
    await stop()
    assert.deepEqual(readdirSync(runDirectory()), [], 'no process is left')
    await part.start()
    const once = ['start one', 'ready one']
    assert.deepEqual(fake.journal(), [...once, 'stop one', ...once])
    assert.equal(prepared, 1)
  })

  it('is started again when it ends, also after it was stopped and started', async () => {
    await part.start()
    await stop()
    await part.start()
    const text = readFileSync(path.join(runDirectory(), 'one.json'), 'utf8')
    process.kill((JSON.parse(text) as { readonly pid: number }).pid, 'SIGKILL')
    await until('it is ready again', () => readyCount() === 3, { limitMs })
  })

  it('is started once at a time', async () => {
    await part.start()
    await assert.rejects(part.start(), /one runs already/)
  })

  it('is not started any more once its stack ends', async () => {
    closing.abort()
    await assert.rejects(part.start())
    assert.deepEqual(fake.journal(), [])
  })

  it('is stopped although it was never started', async () => {
    await stop()
    assert.deepEqual(fake.journal(), [])
  })
})
