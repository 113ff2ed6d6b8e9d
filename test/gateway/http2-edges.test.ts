import assert from 'node:assert/strict'
import { plainBlock } from '../support/hpack-writer.ts'
import { ErrorCode, Flag, FrameType, frameBytes, preface, pseudoFields } from '../support/http2-frames.ts'
import type { FieldList, FrameClient } from '../support/http2-frames.ts'
import { HostileScene, silentPath } from '../support/http2-hostile.ts'

const maxPayloadBytes = 16_384
const bytes = (count: number): Buffer => Buffer.alloc(count)
const block = plainBlock(pseudoFields)
const { Data, Headers, Reset, GoAway, Continuation } = FrameType
const silentRequest: FieldList = pseudoFields.map(([name, value]) => [
  name,
  name === ':path' ? silentPath : value,
])

describe('a frame of HTTP/2 at the edge of what is allowed', () => {
  let scene: HostileScene
  let client: FrameClient

  beforeEach(async () => {
    scene = await HostileScene.start()
    client = await scene.client()
  })
  afterEach(() => scene.close())

  it('may have as much padding as fits', async () => {
    const payload = Buffer.concat([Buffer.from([255]), block, bytes(255)])
    client.send({ type: Headers, flags: Flag.EndHeaders | Flag.Padded, stream: 1, payload })
    client.send({ type: Data, flags: Flag.Padded, stream: 1, payload: Buffer.from([3, 0, 0, 0]) })
    client.send({ type: Data, flags: Flag.Padded | Flag.EndStream, stream: 1, payload: Buffer.from([0]) })
    await client.answered(1)
    await scene.goesOn(client, 3)
  })

  it('may be of the largest size', async () => {
    client.request(1, { body: true })
    client.send({ type: Data, stream: 1, payload: bytes(maxPayloadBytes) })
    client.data(1)
    await client.answered(1)
  })

  it('may be the end of a head that has no byte', async () => {
    client.send({ type: Headers, flags: Flag.EndStream, stream: 1 })
    client.send({ type: Continuation, stream: 1, payload: block })
    client.send({ type: Continuation, flags: Flag.EndHeaders, stream: 1 })
    await client.answered(1)
  })

  it('may leave out stream identifiers', async () => {
    client.request(1_001)
    await client.answered(1_001)
    client.request(0x7fff_ffff)
    await client.answered(0x7fff_ffff)
  })

  it('may come in single bytes', async () => {
    const slow = await scene.silentClient()
    const settings = { type: FrameType.Settings }
    const bytesOfAll = Buffer.concat([
      Buffer.from(preface),
      frameBytes(settings),
      frameBytes({ type: Headers, flags: Flag.EndHeaders, stream: 1, payload: block }),
      frameBytes({ type: Data, flags: Flag.EndStream, stream: 1, payload: bytes(3) }),
    ])
    for (const byte of bytesOfAll) {
      slow.write(Buffer.from([byte]))
      await new Promise(setImmediate)
    }
    await slow.answered(1)
  })

  it('opens no more streams than allowed; those beyond are refused, and may be sent again', async () => {
    const few = await HostileScene.start({ maxConcurrentStreams: 8 })
    try {
      const many = await few.client()
      for (let stream = 1; stream < 40; stream += 2) many.head(stream, silentRequest)
      await many.settled()
      const refused = many.received.filter(({ type }) => type === Reset)
      assert.equal(refused.length, 12)
      for (const { stream } of refused) assert.equal(many.resetCode(stream), ErrorCode.RefusedStream)
      assert.equal(few.asked, 8)
      for (let stream = 1; stream < 16; stream += 2) many.reset(stream)
      await few.goesOn(many, 41)
    } finally {
      await few.close()
    }
  })

  it('is no request when the connection was said to end', async () => {
    const short = await HostileScene.start({ maxRequestsPerConnection: 2 })
    try {
      const last = await short.client()
      for (const stream of [1, 3, 5]) last.request(stream)
      await last.ended()
      assert.equal(last.goAwayCode, ErrorCode.None)
      const goAway = last.received.find(({ type }) => type === GoAway)
      assert.equal(goAway?.payload.readUInt32BE(0), 3)
      assert.deepEqual(
        [1, 3, 5].map((stream) => last.isAnswered(stream)),
        [true, true, false],
      )
      assert.equal(short.asked, 2)
    } finally {
      await short.close()
    }
  })
})

describe('a connection of HTTP/2 that is slow to begin, or begins wrong', () => {
  const headerMs = 400
  let scene: HostileScene

  beforeEach(async () => {
    scene = await HostileScene.start({ headerMs })
  })
  afterEach(() => scene.close())

  /** Asserts that the connection ends at about the time at which its head is late. */
  async function endsLate(client: FrameClient, sinceMs: number): Promise<void> {
    await client.ended()
    const tookMs = performance.now() - sinceMs
    assert.ok(tookMs >= headerMs - 50 && tookMs < headerMs + 2_000, `it took ${tookMs} ms`)
    assert.equal(scene.asked, 0)
    await scene.servesOthers()
  }

  const slow: Readonly<Record<string, string | Buffer>> = {
    'sends nothing': '',
    'sends a part of the preface': preface.slice(0, 20),
    'sends the preface alone': preface,
    'sends the preface and settings': Buffer.concat([
      Buffer.from(preface),
      frameBytes({ type: FrameType.Settings }),
    ]),
    'sends a part of a head': Buffer.concat([
      Buffer.from(preface),
      frameBytes({ type: FrameType.Settings }),
      frameBytes({ type: Headers, flags: Flag.EndHeaders | Flag.EndStream, stream: 1, payload: block }),
    ]).subarray(0, -4),
    'sends a head that goes on in a frame that does not come': Buffer.concat([
      Buffer.from(preface),
      frameBytes({ type: FrameType.Settings }),
      frameBytes({ type: Headers, flags: Flag.EndStream, stream: 1, payload: block }),
    ]),
  }
  for (const [title, sent] of Object.entries(slow)) {
    it(`ends in time if it ${title}`, async () => {
      const client = await scene.silentClient()
      const sinceMs = performance.now()
      client.write(sent)
      await endsLate(client, sinceMs)
    })
  }

  it('ends in time if the pieces of its head never end', async () => {
    const client = await scene.client()
    const sinceMs = performance.now()
    client.send({ type: Headers, flags: Flag.EndStream, stream: 1, payload: block })
    const timer = setInterval(() => client.send({ type: Continuation, stream: 1 }), 100)
    try {
      await endsLate(client, sinceMs)
    } finally {
      clearInterval(timer)
    }
  })

  it('ends in time if a later head is not complete', async () => {
    const client = await scene.client()
    client.request(1)
    await client.answered(1)
    const sinceMs = performance.now()
    client.send({ type: Headers, flags: Flag.EndStream, stream: 3, payload: block })
    await client.ended()
    assert.ok(performance.now() - sinceMs < headerMs + 2_000)
    assert.equal(scene.asked, 1)
  })

  const wrong: Readonly<Record<string, string | Buffer>> = {
    'a request of HTTP/1.1': 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n',
    'a preface whose last byte is wrong': `${preface.slice(0, -1)}x`,
    'settings without the preface': frameBytes({ type: FrameType.Settings }),
    'a frame before its settings': Buffer.concat([
      Buffer.from(preface),
      frameBytes({ type: FrameType.Ping, payload: bytes(8) }),
    ]),
    'an acknowledgement of settings before its own': Buffer.concat([
      Buffer.from(preface),
      frameBytes({ type: FrameType.Settings, flags: Flag.Ack }),
      frameBytes({ type: Headers, flags: Flag.EndHeaders | Flag.EndStream, stream: 1, payload: block }),
    ]),
  }
  for (const [title, sent] of Object.entries(wrong)) {
    it(`ends at once if it begins with ${title}`, async () => {
      const client = await scene.silentClient()
      client.write(sent)
      await client.ended()
      // RFC 9113 allows to leave out GOAWAY here (3.4).
      assert.ok([undefined, ErrorCode.Protocol].some((code) => code === client.goAwayCode))
      assert.equal(scene.asked, 0)
      await scene.servesOthers()
    })
  }
})
