import assert from 'node:assert/strict'
import { zstdCompressSync } from 'node:zlib'
import { randomBytes } from 'node:crypto'
import { createUnpackBudget } from '../../src/host/images/unpack-budget.ts'
import { zstdFrameAt } from '../../src/host/images/zstd-frames.ts'
import { defaultImageLimits } from '../../src/host/images/image-limits.ts'

const limits = {
  ...defaultImageLimits,
  minUnpackSeconds: 10,
  unpackBytesPerSecond: 1_000,
  maxFrames: 3,
}

describe('the budget for reading layers', () => {
  it('is processor time, more for a larger image', () => {
    let usedMs = 500
    const budget = createUnpackBudget(limits, 5_000, () => usedMs)
    budget.beginLayer(5_000)
    usedMs += 15_000
    for (const count of [budget.checkTime, budget.countFrame]) count()
    budget.countUnpacked(1)
    usedMs += 1
    const tooLong = /more than 15 s of processor time/
    assert.throws(() => budget.checkTime(), tooLong)
    assert.throws(() => budget.countRead(1), tooLong)
    assert.throws(() => budget.countUnpacked(1), tooLong)
    assert.throws(() => budget.countFrame(), tooLong)
  })

  it('is a number of frames, over all layers', () => {
    const budget = createUnpackBudget(limits, 0)
    for (let frame = 0; frame < 3; frame++) {
      budget.beginLayer(0)
      budget.countFrame()
    }
    assert.throws(() => budget.countFrame(), /more than 3 compressed frames/)
  })

  it('refuses layers of which many bytes bring no content, but not badly compressed ones', () => {
    const budget = createUnpackBudget(limits, 0)
    budget.beginLayer(1e9)
    for (let part = 0; part < 1_000; part++) {
      budget.countRead(110_000)
      budget.countUnpacked(100_000)
    }
    // These bytes bring no content. A table of contents at the end of a layer is like that.
    budget.countRead(20_000_000)
    assert.throws(() => budget.countRead(100_000_000), /consists of empty parts/)
    budget.beginLayer(1e9)
    assert.throws(() => budget.countRead(1_100_000), /unpack to 0 bytes only, at least/)
  })
})

describe('where a zstd frame ends', () => {
  for (const [title, content] of [
    ['without content', Buffer.alloc(0)],
    ['of one byte, repeated', Buffer.alloc(300_000, 'x')],
    ['of text', Buffer.from('a layer of text '.repeat(20_000))],
    ['that can not be compressed', randomBytes(400_000)],
  ] as const) {
    for (const level of [-5, 1, 19]) {
      for (const checksum of [0, 1]) {
        it(`is known from its headers: a frame ${title}, level ${level}${checksum === 1 ? ', with a checksum' : ''}`, () => {
          // Parameter 100 is the level, and parameter 201 switches the checksum on.
          const frame = zstdCompressSync(content, { params: { 100: level, 201: checksum } })
          const followed = Buffer.concat([frame, Buffer.from('followed by something else')])
          assert.deepEqual(zstdFrameAt(followed), { kind: 'content', bytes: frame.length })
          assert.deepEqual(zstdFrameAt(frame.subarray(0, -1)), { kind: 'longer' })
        })
      }
    }
  }

  it('is not found in a damaged frame', () => {
    assert.deepEqual(zstdFrameAt(Buffer.from('no frame at all')), { kind: 'damaged' })
    const reserved = Buffer.from('28b52ffd2000070000', 'hex')
    assert.deepEqual(zstdFrameAt(reserved), { kind: 'damaged' })
  })
})
