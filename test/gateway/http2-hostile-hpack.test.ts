import assert from 'node:assert/strict'
import { defaultHttpLimits } from '../../src/gateway/http/http-limits.ts'
import { FieldForm, codedText, hpackText, indexedField } from '../support/hpack-writer.ts'
import { literalField, namedField, plainBlock, tableSize } from '../support/hpack-writer.ts'
import { ErrorCode, Flag, FrameType, pseudoFields } from '../support/http2-frames.ts'
import type { FrameClient } from '../support/http2-frames.ts'
import { HostileScene } from '../support/http2-hostile.ts'

const start = plainBlock(pseudoFields)
const largestNumber = Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f])
/** The index of the first field of the dynamic table. */
const firstOwn = 62
const tableBytes = 4_096
/** An index, of which some field has the name, and which is not the point of a test. */
const ageIndex = 21

const after = (...parts: readonly (Buffer | readonly number[])[]): Buffer =>
  Buffer.concat([start, ...parts.map((part) => Buffer.from(part))])

/** Blocks that can not be decoded. The connection then ends with COMPRESSION_ERROR (RFC 9113, 4.3). */
const wrong: Readonly<Record<string, Buffer>> = {
  'the index 0': after([0x80]),
  'the first index of an empty table': after(indexedField(firstOwn)),
  'an index far behind the table': after(indexedField(1_000_000)),
  'an index that is larger than any number': after([0xff], largestNumber),
  'a name of an empty table': after(namedField(firstOwn, hpackText('x'))),
  'a name whose index is larger than any number': after([0x0f], largestNumber, hpackText('x')),
  'a number that never ends': after([0xff], Buffer.alloc(1_000, 0x80), [0x00]),
  'a number that the block cuts off': after([0xff, 0x80]),
  'a length that is larger than any number': after([0x00, 0x7f], largestNumber, hpackText('x')),
  'a length that is larger than its block': after([0x00, 0x7f, 0xff, 0x7f], Buffer.from('name')),
  'a name without a value': after([0x00], hpackText('name')),
  'a value that the block cuts off': after([0x00], hpackText('name'), [0x05, 0x61]),
  'a literal without a name': after([0x00]),
  'a padding of zeros': after(namedField(ageIndex, codedText([0x18]))),
  'a padding of eight ones': after(namedField(ageIndex, codedText([0x1f, 0xff]))),
  'a padding of more ones': after(namedField(ageIndex, codedText([0x1f, 0xff, 0xff, 0xff]))),
  'the code that says that a text is over': after(
    namedField(ageIndex, codedText([0xff, 0xff, 0xff, 0xfc | 0x03])),
  ),
  'that code within a text': after(namedField(ageIndex, codedText([0xff, 0xff, 0xff, 0xfc, 0x3f]))),
  'that code in a name': after([0x00], codedText([0xff, 0xff, 0xff, 0xff]), hpackText('x')),
  'a table that is larger than allowed': Buffer.concat([tableSize(tableBytes + 1), start]),
  'a table that is larger than any number': Buffer.concat([Buffer.from([0x3f]), largestNumber, start]),
  'a size of the table after the fields': after(tableSize(0)),
  'a size of the table between fields': Buffer.concat([indexedField(2), tableSize(100), start.subarray(1)]),
}

describe('a block of fields that can not be decoded', () => {
  let scene: HostileScene
  let client: FrameClient

  beforeEach(async () => {
    scene = await HostileScene.start()
    client = await scene.client()
  })
  afterEach(() => scene.close())

  const refusal = { codes: [ErrorCode.Compression] }

  for (const [title, block] of Object.entries(wrong)) {
    it(`ends the connection: it has ${title}`, async () => {
      client.block(1, block)
      await scene.refuses(client, refusal)
    })
  }

  it('ends the connection when it is the trailers', async () => {
    client.request(1, { body: true })
    client.block(1, Buffer.from([0x80]))
    await scene.refuses(client, { ...refusal, asked: 1 })
  })

  it('ends the connection when its stream is refused anyway', async () => {
    client.request(1, { body: true })
    client.reset(1)
    client.block(3, Buffer.from([0x80]))
    await scene.refuses(client, { ...refusal, asked: 1 })
  })
})

describe('a block of fields at the edge of what is allowed', () => {
  let scene: HostileScene
  let client: FrameClient
  /** The values of the field `x` that the instance got. */
  const seen: string[] = []

  beforeEach(async () => {
    seen.length = 0
    scene = await HostileScene.start({}, ({ headers }) => {
      if (headers['x'] !== undefined) seen.push(headers['x'].toString())
      return 'hello'
    })
    client = await scene.client()
  })
  afterEach(() => scene.close())

  it('may set the size of the table several times before its fields', async () => {
    client.block(1, Buffer.concat([tableSize(0), tableSize(tableBytes), start]))
    await client.answered(1)
    await scene.goesOn(client, 3)
  })

  it('may consist of the size of the table alone, and is then no request', async () => {
    client.block(1, tableSize(0))
    await scene.refuses(client, { stream: 1, codes: [ErrorCode.Protocol], orAnswer: true })
  })

  it('may have a padding of up to seven ones', async () => {
    // Codes of the letter a: 00011, 24 of them fill 15 bytes.
    for (const [stream, bytes] of [
      [1, [0x1f]],
      [3, [0x18, 0xff]],
    ] as const) {
      const letters = stream === 1 ? codedText(bytes) : codedText([0x18, 0xc7])
      client.block(stream, after(literalHead('x'), letters))
      await client.answered(stream)
    }
    assert.deepEqual(seen, ['a', 'aaa'])
  })

  const literalHead = (name: string): Buffer => Buffer.concat([Buffer.from([0]), hpackText(name)])

  it('may have a number with zeros before it', async () => {
    client.block(1, after(literalHead('x'), [0x7f, 0x80, 0x80, 0x00], Buffer.alloc(127, 'y')))
    await client.answered(1)
    assert.deepEqual(seen, ['y'.repeat(127)])
  })

  it('uses the fields of earlier blocks, also of those that were refused', async () => {
    const kept = literalField('x', 'kept', FieldForm.Added)
    client.block(1, Buffer.concat([kept, literalField('x-other', 'more', FieldForm.Added)]))
    await client.sees('the refusal', () => client.resetCode(1))
    client.block(3, after(indexedField(firstOwn + 1)))
    await client.answered(3)
    assert.deepEqual(seen, ['kept'])
  })

  it('uses the fields of earlier blocks, also of one that was too large', async () => {
    const kept = literalField('x', 'kept', FieldForm.Added)
    const large = Buffer.alloc(3_900, 'l').toString()
    const half = Buffer.concat([start, literalField('x-large', large, FieldForm.Added)])
    const flags = Flag.EndStream
    client.send({ type: FrameType.Headers, flags, stream: 1, payload: half })
    const again = Buffer.concat([...Array.from({ length: 12 }, () => indexedField(firstOwn)), kept])
    client.send({ type: FrameType.Continuation, flags: Flag.EndHeaders, stream: 1, payload: again })
    await client.answered(1)
    assert.equal(scene.front.reports.at(-1)?.status, 431)
    client.block(3, after(indexedField(firstOwn)))
    await client.answered(3)
    assert.deepEqual(seen, ['kept'])
  })

  it('loses the fields that have no room any more', async () => {
    client.block(1, after(literalField('x', 'old', FieldForm.Added)))
    await client.answered(1)
    client.block(3, after(literalField('y', 'n'.repeat(tableBytes), FieldForm.Added)))
    await client.answered(3)
    client.block(5, after(indexedField(firstOwn)))
    await scene.refuses(client, { codes: [ErrorCode.Compression], asked: 2 })
  })
})

describe('a block of fields that becomes large', () => {
  let scene: HostileScene
  let client: FrameClient

  beforeEach(async () => {
    scene = await HostileScene.start()
    client = await scene.client()
  })
  afterEach(() => scene.close())

  it('is refused with 431 if a large field is repeated thousands of times', async () => {
    client.block(1, after(literalField('x', 'x'.repeat(3_900), FieldForm.Added)))
    await client.answered(1)
    const before = process.memoryUsage().arrayBuffers
    const startedMs = performance.now()
    for (let stream = 3; stream < 43; stream += 2) {
      client.block(stream, Buffer.concat([start, Buffer.alloc(16_000, firstOwn | 0x80)]))
      await client.answered(stream)
      assert.equal(scene.front.reports.at(-1)?.status, 431)
    }
    // Decoded as a whole they would have 1.2 GB.
    assert.ok(process.memoryUsage().arrayBuffers - before < 64 << 20)
    assert.ok(performance.now() - startedMs < 5_000)
    assert.equal(scene.asked, 1)
    await scene.goesOn(client, 43)
  })

  it('is refused with 431 or ends the connection, just above the limit and far above it', async () => {
    const { maxHeaderBytes } = defaultHttpLimits
    client.head(1, [...pseudoFields, ['x', 'y'.repeat(maxHeaderBytes - 200)]])
    await client.answered(1)
    assert.equal(scene.front.reports.at(-1)?.status, 200)
    let stream = 3
    for (const bytes of [maxHeaderBytes + 1, maxHeaderBytes * 2, 60_000]) {
      sendLarge(stream, Buffer.concat([start, literalField('x', 'y'.repeat(bytes))]))
      await client.answered(stream)
      assert.equal(scene.front.reports.at(-1)?.status, 431)
      stream += 2
    }
    await scene.goesOn(client, stream)
    sendLarge(stream + 2, Buffer.concat([start, literalField('x', 'y'.repeat(200_000))]))
    await scene.calmsDown(client)
    assert.equal(scene.asked, 2)
  })

  it('is refused with 431 if it has too many fields', async () => {
    const many = Buffer.concat(Array.from({ length: 500 }, () => literalField('x', '')))
    client.block(1, after(many))
    await client.answered(1)
    assert.equal(scene.front.reports.at(-1)?.status, 431)
    await scene.goesOn(client, 3)
  })

  /** Sends a block in as many frames as it needs. */
  function sendLarge(stream: number, block: Buffer): void {
    const most = 16_384
    client.send({ type: FrameType.Headers, flags: Flag.EndStream, stream, payload: block.subarray(0, most) })
    for (let at = most; at < block.length; at += most) {
      const flags = at + most >= block.length ? Flag.EndHeaders : 0
      client.send({ type: FrameType.Continuation, flags, stream, payload: block.subarray(at, at + most) })
    }
  }
})
