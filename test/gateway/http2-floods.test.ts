import assert from 'node:assert/strict'
import { plainBlock } from '../support/hpack-writer.ts'
import { ErrorCode, Flag, FrameType, frameBytes, pseudoFields } from '../support/http2-frames.ts'
import { settingsOf, uint32 } from '../support/http2-frames.ts'
import type { FieldList, FrameClient } from '../support/http2-frames.ts'
import { HostileScene, silentPath } from '../support/http2-hostile.ts'

const { Data, Headers, Priority, Reset, Settings, Ping, WindowUpdate, Continuation } = FrameType
const block = plainBlock(pseudoFields)
const floodFrames = 50_000
const mebibyte = 1 << 20
const silent: FieldList = pseudoFields.map(([name, value]) => [name, name === ':path' ? silentPath : value])

/** The bytes of `count` frames, each as `frame` gives it. */
function many(count: number, frame: (index: number) => Parameters<typeof frameBytes>[0]): Buffer {
  return Buffer.concat(Array.from({ length: count }, (_, index) => frameBytes(frame(index))))
}

/** Memory that is held outside of the heap and in it, by the whole process. */
function heldBytes(): number {
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return arrayBuffers + heapUsed
}

/** Frames that bring nothing. Each of them alone is allowed. */
const idle: Readonly<Record<string, Buffer>> = {
  SETTINGS: many(floodFrames, () => ({ type: Settings })),
  'SETTINGS that change the window': many(floodFrames, (index) => ({
    type: Settings,
    payload: settingsOf([4, 60_000 + (index % 9)]),
  })),
  PING: many(floodFrames, () => ({ type: Ping, payload: Buffer.alloc(8) })),
  'acknowledgements of PING': many(floodFrames, () => ({
    type: Ping,
    flags: Flag.Ack,
    payload: Buffer.alloc(8),
  })),
  PRIORITY: many(floodFrames, (index) => ({
    type: Priority,
    stream: 2 * index + 5,
    payload: Buffer.alloc(5),
  })),
  'WINDOW_UPDATE of the connection': many(floodFrames, () => ({ type: WindowUpdate, payload: uint32(1) })),
  'WINDOW_UPDATE of a stream': many(floodFrames, () => ({
    type: WindowUpdate,
    stream: 1,
    payload: uint32(1),
  })),
  'empty DATA': many(floodFrames, () => ({ type: Data, stream: 1 })),
  'DATA that has padding alone': many(floodFrames, () => ({
    type: Data,
    flags: Flag.Padded,
    stream: 1,
    payload: Buffer.from([0]),
  })),
  'RST_STREAM of a stream that is over': many(floodFrames, () => ({
    type: Reset,
    stream: 3,
    payload: uint32(8),
  })),
  'frames of no known type': many(floodFrames, () => ({ type: 0xfa })),
  'empty CONTINUATION': Buffer.concat([
    frameBytes({ type: Headers, flags: Flag.EndStream, stream: 5, payload: block }),
    many(floodFrames, () => ({ type: Continuation, stream: 5 })),
  ]),
  'CONTINUATION without an end': Buffer.concat([
    frameBytes({ type: Headers, flags: Flag.EndStream, stream: 5, payload: block }),
    many(2_000, () => ({ type: Continuation, stream: 5, payload: Buffer.alloc(8_000, 0x82) })),
  ]),
  'heads without an end on streams that follow each other': many(floodFrames, (index) => ({
    type: Headers,
    stream: 2 * index + 5,
    payload: block,
  })),
}

describe('a flood of frames of HTTP/2', function () {
  this.timeout(30_000)
  let scene: HostileScene
  let client: FrameClient

  beforeEach(async () => {
    scene = await HostileScene.start()
    client = await scene.client()
    client.head(1, silent, { body: true })
    client.request(3)
    await client.answered(3)
  })
  afterEach(() => scene.close())

  for (const [title, frames] of Object.entries(idle)) {
    it(`ends the connection: ${title}`, async () => {
      const before = heldBytes()
      client.write(frames)
      await scene.servesOthers()
      await client.ended()
      const expected: ErrorCode[] = [ErrorCode.EnhanceYourCalm]
      if (title.startsWith('heads')) expected.push(ErrorCode.Protocol)
      assert.ok(
        expected.some((code) => code === client.goAwayCode),
        `the code is ${client.goAwayCode}`,
      )
      assert.ok(heldBytes() - before < 64 * mebibyte)
      await scene.servesOthers()
      assert.equal(scene.asked, 2)
    })
  }

  for (const title of ['SETTINGS', 'PING'] as const) {
    it(`ends the connection, and holds little, if its client does not read: ${title}`, async () => {
      client.pause()
      const before = heldBytes()
      client.write(idle[title] ?? Buffer.alloc(0))
      await scene.front.traffic.idle()
      assert.ok(heldBytes() - before < 64 * mebibyte)
      client.resume()
      await scene.calmsDown(client)
    })
  }

  it('of few frames within a long time goes on', async () => {
    for (let round = 0; round < 10; round += 1) {
      client.write(many(100, () => ({ type: Ping, payload: Buffer.alloc(8) })))
      await client.settled()
    }
    await scene.goesOn(client, 5)
  })

  it('that comes with requests goes on', async () => {
    for (let stream = 5; stream < 1_005; stream += 2) {
      client.write(many(5, () => ({ type: Ping, payload: Buffer.alloc(8) })))
      client.request(stream)
      if (stream % 100 === 5) await client.answered(stream)
    }
    await scene.goesOn(client, 1_005)
  })
})

describe('a client of HTTP/2 that has its streams reset', function () {
  this.timeout(30_000)
  const maxResets = 50
  const streams = 2_000
  let scene: HostileScene
  let client: FrameClient

  beforeEach(async () => {
    scene = await HostileScene.start({ maxResets })
    client = await scene.client()
  })
  afterEach(() => scene.close())

  /** Frames that have the stream reset, by the client or by the gateway. */
  const resets: Readonly<Record<string, (stream: number) => readonly Parameters<typeof frameBytes>[0][]>> = {
    'by itself': (stream) => [{ type: Reset, stream, payload: uint32(8) }],
    'by a WINDOW_UPDATE of nothing': (stream) => [{ type: WindowUpdate, stream, payload: uint32(0) }],
    'by a window that is too large': (stream) => [
      { type: WindowUpdate, stream, payload: uint32(0x7fff_ffff) },
    ],
    'by DATA after the end': (stream) => [{ type: Data, stream, payload: Buffer.from('x') }],
    'by a second head': (stream) => [
      { type: Headers, stream, flags: Flag.EndHeaders | Flag.EndStream, payload: block },
    ],
    'by a PRIORITY of a wrong size': (stream) => [{ type: Priority, stream, payload: Buffer.alloc(4) }],
  }
  for (const [title, framesOf] of Object.entries(resets)) {
    it(`${title} loses its connection, after few requests`, async () => {
      const payload = plainBlock(silent)
      const flags = Flag.EndHeaders | Flag.EndStream
      const frames = Array.from({ length: streams }, (_, index) => 2 * index + 1).flatMap((stream) => [
        frameBytes({ type: Headers, flags, stream, payload }),
        ...framesOf(stream).map(frameBytes),
      ])
      client.write(Buffer.concat(frames))
      await client.ended()
      const code = client.goAwayCode
      const isSize = title.includes('size') && code === ErrorCode.FrameSize
      assert.ok(isSize || code === ErrorCode.EnhanceYourCalm, `the code is ${code}`)
      assert.ok(scene.asked <= maxResets + 2, `${scene.asked} requests were made`)
      await scene.servesOthers()
      await scene.front.traffic.idle()
    })
  }

  it('by malformed requests loses its connection', async () => {
    const payload = plainBlock([...pseudoFields, ['X', 'y']])
    const flags = Flag.EndHeaders | Flag.EndStream
    client.write(many(streams, (index) => ({ type: Headers, flags, stream: 2 * index + 1, payload })))
    await scene.calmsDown(client)
    assert.equal(scene.asked, 0)
  })

  it('by too many streams at the same time loses its connection', async () => {
    const payload = plainBlock(silent)
    const flags = Flag.EndHeaders | Flag.EndStream
    client.write(many(streams, (index) => ({ type: Headers, flags, stream: 2 * index + 1, payload })))
    await scene.calmsDown(client)
    assert.ok(scene.asked <= 128, `${scene.asked} requests were made`)
  })

  it('seldom enough goes on', async () => {
    for (let count = 0; count < maxResets; count += 1) {
      const stream = 2 * count + 1
      client.head(stream, silent)
      client.reset(stream)
    }
    await scene.goesOn(client, 201)
  })
})
