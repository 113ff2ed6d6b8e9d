import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { consoleWindowMaxBytes, readConsole } from '../../../src/host/console/console-reader.ts'
import { segmentName } from '../../../src/host/console/console-segments.ts'
import { ConsoleWriter } from '../../../src/host/console/console-writer.ts'
import { rangeOf } from '../../../src/host/console/log-range.ts'

const text = (window: { outputBase64: string }): string =>
  Buffer.from(window.outputBase64, 'base64').toString()

describe('console', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'roost-console-'))
  })
  afterEach(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  it('an empty log is all zeros', async () => {
    assert.deepEqual(await readConsole(join(directory, 'none'), { offset: -4096, limit: 4096 }), {
      availableStart: 0,
      availableEnd: 0,
      rangeStart: 0,
      rangeEnd: 0,
      outputBase64: '',
    })
  })

  it('a request at or beyond the end is empty and begins where it was asked for', async () => {
    await new ConsoleWriter(directory).append(Buffer.from('hello'))
    for (const offset of [5, 6, 1000]) {
      const window = await readConsole(directory, { offset, limit: 10 })
      assert.deepEqual([window.rangeStart, window.rangeEnd, text(window)], [offset, offset, ''])
      assert.equal(window.availableEnd, 5)
    }
  })

  it('paging backwards from the end gives every byte once', async () => {
    const log = Array.from({ length: 100 }, (_, line) => `line ${String(line)}\n`).join('')
    await new ConsoleWriter(directory).append(Buffer.from(log))
    const pages: string[] = []
    for (let page = 1; ; page += 1) {
      const window = await readConsole(directory, { offset: -100 * page, limit: 100 })
      pages.unshift(text(window))
      if (window.rangeEnd - window.rangeStart < 100) break
    }
    assert.equal(pages.join(''), log)
  })

  it('offsets stay true when the oldest part is dropped at the cap', async () => {
    const writer = new ConsoleWriter(directory, { segmentBytes: 10, segmentsKept: 3 })
    const all = Array.from({ length: 12 }, (_, index) => String(index % 10).repeat(7)).join('')
    for (let at = 0; at < all.length; at += 7) await writer.append(Buffer.from(all.slice(at, at + 7)))
    const window = await readConsole(directory, { offset: 0, limit: 1000 })
    assert.deepEqual([window.availableStart, window.availableEnd], [60, 84])
    assert.equal(window.rangeStart, 60)
    assert.equal(text(window), all.slice(60))
    assert.equal(text(await readConsole(directory, { offset: 68, limit: 4 })), all.slice(68, 72))
  })

  it('a new writer goes on in the last segment', async () => {
    await new ConsoleWriter(directory).append(Buffer.from('one\n'))
    await new ConsoleWriter(directory).append(Buffer.from('two\n'))
    assert.deepEqual(await readdir(directory), [segmentName(0)])
    assert.equal(text(await readConsole(directory, { offset: 0, limit: 100 })), 'one\ntwo\n')
  })

  it('an answer is bounded whatever limit is asked for', async () => {
    await new ConsoleWriter(directory).append(Buffer.alloc(consoleWindowMaxBytes + 10))
    const window = await readConsole(directory, { offset: 0, limit: Number.MAX_SAFE_INTEGER })
    assert.equal(window.rangeEnd - window.rangeStart, consoleWindowMaxBytes)
  })

  it('a reader beside a writer that drops segments sees one gapless piece', async () => {
    const writer = new ConsoleWriter(directory, { segmentBytes: 64, segmentsKept: 2 })
    const record = (index: number): string => `${String(index).padStart(7, '0')}\n`
    let writing = true
    const writes = (async () => {
      for (let index = 0; index < 300; index += 1) await writer.append(Buffer.from(record(index)))
      writing = false
    })()
    let windows = 0
    while (writing) {
      const window = await readConsole(directory, { offset: 0, limit: 128 }).catch(() => undefined)
      if (window === undefined) continue
      windows += 1
      const expected = Array.from({ length: 20 }, (_, index) =>
        record(Math.floor(window.rangeStart / 8) + index),
      ).join('')
      assert.ok(expected.startsWith(text(window)), `at ${String(window.rangeStart)}: ${text(window)}`)
    }
    await writes
    assert.ok(windows > 0)
  })
})

describe('the range of a log request', () => {
  const available = fc
    .tuple(fc.nat(10_000), fc.nat(10_000))
    .map(([start, length]) => ({ start, end: start + length }))

  it('lies inside what is available and is never longer than the limit', () => {
    fc.assert(
      fc.property(
        available,
        fc.integer({ min: -30_000, max: 30_000 }),
        fc.nat(20_000),
        (log, offset, limit) => {
          const range = rangeOf({ offset, limit }, log)
          assert.ok(range.start <= range.end)
          assert.ok(range.end - range.start <= limit)
          if (range.end > range.start) assert.ok(range.start >= log.start && range.end <= log.end)
        },
      ),
    )
  })

  it('of a relative offset is the intersection with the log', () => {
    fc.assert(
      fc.property(available, fc.integer({ min: -30_000, max: -1 }), fc.nat(20_000), (log, offset, limit) => {
        const range = rangeOf({ offset, limit }, log)
        const from = log.end + offset
        const expected = Math.max(0, Math.min(from + limit, log.end) - Math.max(from, log.start))
        assert.equal(range.end - range.start, expected)
        if (expected > 0) assert.equal(range.start, Math.max(from, log.start))
      }),
    )
  })

  it('of an absolute offset that was dropped begins at the oldest byte left', () => {
    assert.deepEqual(rangeOf({ offset: 5, limit: 10 }, { start: 100, end: 200 }), { start: 100, end: 110 })
  })

  it('lets a reader that follows from range end to range end see every byte that was kept', () => {
    fc.assert(
      fc.property(available, fc.nat(15_000), fc.integer({ min: 1, max: 5000 }), (log, offset, limit) => {
        let at = offset
        let seen = 0
        for (;;) {
          const range = rangeOf({ offset: at, limit }, log)
          if (range.end === range.start) break
          seen += range.end - range.start
          at = range.end
        }
        assert.equal(seen, Math.max(0, log.end - Math.max(log.start, offset)))
      }),
    )
  })
})
