import assert from 'node:assert/strict'
import fc from 'fast-check'
import { HttpFailure } from '../../src/gateway/http/http-failure.ts'
import { defaultHttpLimits } from '../../src/gateway/http/http-limits.ts'
import { HpackDecoder } from '../../src/gateway/http/http2/hpack-decoder.ts'
import { encodeFields, encodeStatus, noTable } from '../../src/gateway/http/http2/hpack-encoder.ts'
import { HpackError } from '../../src/gateway/http/http2/hpack-error.ts'
import { MalformedRequest, receivedHead } from '../../src/gateway/http/http2/http2-head.ts'
import { readRequestHead } from '../../src/gateway/http/request-head.ts'
import { BlockGrammar } from '../support/hpack-grammar.ts'
import { ErrorCode, Flag, FrameType, frameBytes, preface } from '../support/http2-frames.ts'
import { Nghttp2Client } from '../support/nghttp2-client.ts'
import { Nghttp2Connection } from '../support/nghttp2-server.ts'
import { Tape, fuzzRuns, fuzzTimeoutMs } from '../support/tape.ts'

const tableBytes = 4_096
const large = 1 << 20
/** Limits that no block reaches: they are not what is compared. */
const limits = { ...defaultHttpLimits, maxHeaderBytes: large, maxHeaderCount: 10_000, maxTargetBytes: large }
/** The most blocks of a connection. Mostly a block that can not be decoded, or the tape, ends it earlier. */
const maxBlocks = 60
const connections = 12_000
/** How many blocks the connections have at least, all together. */
const leastBlocks = 150_000

/** To simplify a failure takes longer than the time limit, so only runs by hand do it. */
const isByHand = fuzzTimeoutMs === 0
const blockTapes = fc.uint8Array({ minLength: 200, maxLength: 1_600, size: 'max' })
const begin = Buffer.concat([Buffer.from(preface), frameBytes({ type: FrameType.Settings })])

interface Reading {
  readonly fields: readonly string[]
  /** Whether a request was read; or why not. */
  readonly kind: 'read' | 'malformed' | 'undecodable'
}

function ownReading(decoder: HpackDecoder, block: Buffer): Reading {
  let fields: readonly string[] = []
  try {
    const decoded = decoder.decode(block, large)
    assert.ok(decoded !== 'too-large')
    fields = decoded
    readRequestHead(receivedHead(decoded, true), limits)
    return { fields, kind: 'read' }
  } catch (error) {
    if (error instanceof HpackError) return { fields, kind: 'undecodable' }
    if (error instanceof MalformedRequest || error instanceof HttpFailure)
      return { fields, kind: 'malformed' }
    throw error
  }
}

/** Whether a list of fields is another one without some of them. */
function isPart(part: readonly string[], whole: readonly string[]): boolean {
  let found = 0
  for (let at = 0; at < whole.length; at += 2) {
    if (part[found] === whole[at] && part[found + 1] === whole[at + 1]) found += 2
  }
  return found === part.length
}

describe('blocks of fields', () => {
  const counts = { read: 0, malformed: 0, undecodable: 0 }

  /** Has both read the blocks of a connection. */
  async function readAlike(blocks: readonly Buffer[]): Promise<void> {
    const flags = Flag.EndHeaders | Flag.EndStream
    const frames = blocks.map((payload, index) =>
      frameBytes({ type: FrameType.Headers, flags, stream: 2 * index + 1, payload }),
    )
    const nghttp2 = new Nghttp2Connection()
    try {
      assert.ok(await nghttp2.read(Buffer.concat([begin, ...frames])))
      const decoder = new HpackDecoder({ maxTableBytes: tableBytes })
      for (const [index, block] of blocks.entries()) {
        const { fields, kind } = ownReading(decoder, block)
        const read = nghttp2.requests.get(2 * index + 1)
        const what = `block ${index}, ${block.toString('hex')}`
        counts[kind] += 1
        if (kind === 'undecodable') {
          assert.equal(read, undefined, what)
          assert.equal(nghttp2.goAwayCode, ErrorCode.Compression, what)
          return
        }
        // Node takes some requests that the gateway refuses, and drops the fields of them that are not valid.
        if (kind === 'read') assert.deepEqual(read?.fields, fields, what)
        else if (read !== undefined) assert.ok(isPart(read.fields, fields), what)
      }
      assert.equal(nghttp2.goAwayCode, undefined)
    } finally {
      nghttp2.close()
    }
  }

  it('are read as nghttp2 reads them, one after the other with the same table', async function () {
    this.timeout(fuzzTimeoutMs)
    const { numRuns = 0, ...settings } = fuzzRuns(connections)
    await fc.assert(
      fc.asyncProperty(blockTapes, async (choices) => {
        const tape = new Tape(choices)
        const grammar = new BlockGrammar(tape)
        const blocks: Buffer[] = []
        while (blocks.length < maxBlocks && !tape.isOver) blocks.push(grammar.block())
        await readAlike(blocks)
      }),
      { numRuns, ...settings, endOnFailure: !isByHand },
    )
    const shares = JSON.stringify(counts)
    if (isByHand) console.log(`      ${shares}`)
    assert.ok(counts.read > (leastBlocks * numRuns) / connections, shares)
    assert.ok(counts.malformed > numRuns && counts.undecodable > numRuns / 5, shares)
  })

  const names = ['date', 'x-a', 'set-cookie', 'content-type', 'x'.repeat(100), 'age', 'vary'] as const
  const values = [
    '',
    'a',
    'text/html',
    '\xe4\x80\xff',
    'v'.repeat(126),
    'v'.repeat(127),
    'v'.repeat(300),
  ] as const

  it('of answers are read by nghttp2 as they were given', async function () {
    this.timeout(fuzzTimeoutMs)
    const client = new Nghttp2Client()
    await client.ready()
    let isFirst = true
    try {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 24, size: 'max' }), async (choices) => {
          const tape = new Tape(choices)
          const status = 200 + tape.below(400)
          const fields: string[] = []
          // Node takes most of these names only once.
          for (const name of names) if (tape.oneIn(2)) fields.push(name, tape.pick(values))
          const block = (isFirst ? noTable : '') + encodeStatus(status) + encodeFields(fields)
          isFirst = false
          const flags = Flag.EndHeaders | Flag.EndStream
          const read = await client.read((stream) =>
            frameBytes({ type: FrameType.Headers, flags, stream, payload: Buffer.from(block, 'latin1') }),
          )
          assert.deepEqual(read, [':status', String(status), ...fields])
        }),
        fuzzRuns(10_000),
      )
    } finally {
      client.close()
    }
  })
})
