import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConsoleWaits } from '../../../src/host/console/console-waits.ts'
import { ConsoleWriter } from '../../../src/host/console/console-writer.ts'

const text = ({ outputBase64 }: { outputBase64: string }) => Buffer.from(outputBase64, 'base64').toString()
const longMs = 10_000
const limit = 1_000

describe('a wait for a console', () => {
  let directory: string
  let waits: ConsoleWaits
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'roost-waits-'))
    waits = new ConsoleWaits({ all: 3, ofOne: 2 })
  })
  afterEach(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  async function within<T>(ms: number, work: Promise<T>): Promise<T> {
    const begin = performance.now()
    const result = await work
    const tookMs = performance.now() - begin
    assert.ok(tookMs < ms, `it took ${tookMs} ms`)
    return result
  }
  const waitAt = (offset: number, of = directory, gone?: AbortSignal) =>
    waits.read(of, { offset, limit, waitMs: longMs, ...(gone && { gone }) })
  const settled = async () => await new Promise((resolve) => setTimeout(resolve, 100))

  it('is over at once if there are bytes after the offset', async () => {
    await new ConsoleWriter(directory).append(Buffer.from('hello'))
    assert.equal(text(await within(1_000, waitAt(2))), 'llo')
  })

  it('is over when bytes are appended, for all who wait, and again for the next', async () => {
    const writer = new ConsoleWriter(directory)
    await writer.append(Buffer.from('a'))
    for (const [index, letter] of ['b', 'c', 'd'].entries()) {
      const both = [waitAt(index + 1), waitAt(index + 1)]
      await settled()
      await writer.append(Buffer.from(letter))
      assert.deepEqual((await within(700, Promise.all(both))).map(text), [letter, letter])
    }
  })

  it('is over when a new segment begins and the oldest is dropped', async () => {
    const writer = new ConsoleWriter(directory, { segmentBytes: 4, segmentsKept: 1 })
    await writer.append(Buffer.from('aaaa'))
    const waiting = waitAt(4)
    await settled()
    await writer.append(Buffer.from('bb'))
    assert.equal(text(await within(700, waiting)), 'bb')
  })

  it('begins before there is a console, and outlives one that is removed', async () => {
    const of = join(directory, 'later')
    const first = waitAt(0, of)
    await settled()
    await new ConsoleWriter(of).append(Buffer.from('one'))
    assert.equal(text(await within(3_000, first)), 'one')
    const second = waitAt(3, of)
    await settled()
    await rm(of, { recursive: true })
    assert.equal((await within(3_000, second)).availableEnd, 0)
    const third = waitAt(0, of)
    await settled()
    await new ConsoleWriter(of).append(Buffer.from('two'))
    assert.equal(text(await within(3_000, third)), 'two')
  })

  it('ends with nothing when its time is over, or when nobody waits any more', async () => {
    const began = performance.now()
    assert.equal(text(await waits.read(directory, { offset: 0, limit, waitMs: 300 })), '')
    assert.ok(performance.now() - began >= 290)
    const gone = new AbortController()
    const waiting = waitAt(0, directory, gone.signal)
    await settled()
    gone.abort()
    assert.equal(text(await within(1_000, waiting)), '')
  })

  it('is answered at once if as many wait as may, of one instance or of all', async () => {
    const gone = new AbortController()
    const own = [waitAt(0, directory, gone.signal), waitAt(0, directory, gone.signal)]
    assert.equal(text(await within(1_000, waitAt(0))), '')
    const other = join(directory, 'other')
    const third = waitAt(0, other, gone.signal)
    assert.equal(text(await within(1_000, waitAt(0, other))), '')
    gone.abort()
    await Promise.all([...own, third])
    const free = waitAt(0)
    await settled()
    await new ConsoleWriter(directory).append(Buffer.from('x'))
    assert.equal(text(await within(2_000, free)), 'x')
  })
})
