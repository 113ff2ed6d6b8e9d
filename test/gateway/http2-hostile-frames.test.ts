import assert from 'node:assert/strict'
import { plainBlock } from '../support/hpack-writer.ts'
import { ErrorCode, Flag, FrameType, pseudoFields } from '../support/http2-frames.ts'
import { settingsOf, uint32 } from '../support/http2-frames.ts'
import type { FieldList, FrameClient, SentFrame } from '../support/http2-frames.ts'
import { HostileScene, silentPath } from '../support/http2-hostile.ts'
import type { Refusal } from '../support/http2-hostile.ts'

const maxPayloadBytes = 16_384
const bytes = (count: number): Buffer => Buffer.alloc(count)
const block = plainBlock(pseudoFields)
const silentRequest: FieldList = pseudoFields.map(([name, value]) => [
  name,
  name === ':path' ? silentPath : value,
])
const whole = Flag.EndHeaders | Flag.EndStream
const { Data, Headers, Priority, Reset, Settings, PushPromise, Ping } = FrameType
const { GoAway, WindowUpdate, Continuation } = FrameType

interface Case {
  readonly send: (client: FrameClient) => void
  readonly refusal: Refusal
}

const protocol: Refusal = { codes: [ErrorCode.Protocol] }
const frameSize: Refusal = { codes: [ErrorCode.FrameSize] }
const flowControl: Refusal = { codes: [ErrorCode.FlowControl] }
const padding: Refusal = { codes: [ErrorCode.Protocol, ErrorCode.FrameSize] }

const frame = (type: number, over: { flags?: number; stream?: number; payload?: Buffer } = {}) => ({
  send: (client: FrameClient) => client.send({ type, ...over }),
})

/** A request that stays open, and then what `then` sends. */
const onOpen = (then: (client: FrameClient) => void) => (client: FrameClient) => {
  client.request(1, { body: true })
  then(client)
}

/** A request on a later stream, and then what `then` sends. */
const afterFifth = (then: (client: FrameClient) => void) => (client: FrameClient) => {
  client.request(5, { body: true })
  then(client)
}

/** Frames that end the connection, with the sections of RFC 9113 that say so. */
const connectionErrors: Readonly<Record<string, Case>> = {
  'DATA on stream 0 (6.1)': { ...frame(Data, { payload: bytes(1) }), refusal: protocol },
  'HEADERS on stream 0 (6.2)': { ...frame(Headers, { flags: whole, payload: block }), refusal: protocol },
  'PRIORITY on stream 0 (6.3)': { ...frame(Priority, { payload: bytes(5) }), refusal: protocol },
  'RST_STREAM on stream 0 (6.4)': { ...frame(Reset, { payload: bytes(4) }), refusal: protocol },
  'RST_STREAM of an idle stream (6.4)': {
    ...frame(Reset, { stream: 1, payload: bytes(4) }),
    refusal: protocol,
  },
  'RST_STREAM of a stream of the server, which is idle (6.4)': {
    send: afterFifth((client) => client.reset(2)),
    refusal: { ...protocol, asked: 1 },
  },
  'a short RST_STREAM (6.4)': {
    send: onOpen((client) => client.send({ type: Reset, stream: 1, payload: bytes(3) })),
    refusal: { ...frameSize, asked: 1 },
  },
  'a long RST_STREAM (6.4)': {
    send: onOpen((client) => client.send({ type: Reset, stream: 1, payload: bytes(5) })),
    refusal: { ...frameSize, asked: 1 },
  },
  'SETTINGS on a stream (6.5)': { ...frame(Settings, { stream: 1 }), refusal: protocol },
  'SETTINGS that are not whole (6.5)': { ...frame(Settings, { payload: bytes(5) }), refusal: frameSize },
  'a second acknowledgement of the same SETTINGS': {
    ...frame(Settings, { flags: Flag.Ack }),
    refusal: protocol,
  },
  'an acknowledgement of SETTINGS with a payload (6.5)': {
    ...frame(Settings, { flags: Flag.Ack, payload: bytes(6) }),
    refusal: frameSize,
  },
  'SETTINGS that enable a protocol by 2 (RFC 8441, 3)': {
    ...frame(Settings, { payload: settingsOf([8, 2]) }),
    refusal: protocol,
  },
  'SETTINGS that have no priorities by 2 (RFC 9218, 2.1)': {
    ...frame(Settings, { payload: settingsOf([9, 2]) }),
    refusal: protocol,
  },
  'SETTINGS that push by 2 (6.5.2)': {
    ...frame(Settings, { payload: settingsOf([2, 2]) }),
    refusal: protocol,
  },
  'SETTINGS with a window of 2^31 (6.5.2)': {
    ...frame(Settings, { payload: settingsOf([4, 2 ** 31]) }),
    refusal: flowControl,
  },
  'SETTINGS with small frames (6.5.2)': {
    ...frame(Settings, { payload: settingsOf([5, maxPayloadBytes - 1]) }),
    refusal: protocol,
  },
  'SETTINGS with frames of 2^24 (6.5.2)': {
    ...frame(Settings, { payload: settingsOf([5, 2 ** 24]) }),
    refusal: protocol,
  },
  'SETTINGS that make the window of a stream too large (6.9.2)': {
    send: onOpen((client) => {
      client.window(1, 0x7fff_ffff - 65_535)
      client.send({ type: Settings, payload: settingsOf([4, 65_536]) })
    }),
    refusal: { ...flowControl, asked: 1 },
  },
  'PUSH_PROMISE (8.4)': {
    ...frame(PushPromise, { stream: 1, flags: Flag.EndHeaders, payload: Buffer.concat([uint32(2), block]) }),
    refusal: protocol,
  },
  'PING on a stream (6.7)': { ...frame(Ping, { stream: 1, payload: bytes(8) }), refusal: protocol },
  'a short PING (6.7)': { ...frame(Ping, { payload: bytes(7) }), refusal: frameSize },
  'a long PING (6.7)': { ...frame(Ping, { payload: bytes(9) }), refusal: frameSize },
  'GOAWAY on a stream (6.8)': { ...frame(GoAway, { stream: 1, payload: bytes(8) }), refusal: protocol },
  'a short GOAWAY (4.2)': { ...frame(GoAway, { payload: bytes(7) }), refusal: frameSize },
  'WINDOW_UPDATE by nothing (6.9)': { ...frame(WindowUpdate, { payload: bytes(4) }), refusal: protocol },
  'a short WINDOW_UPDATE (6.9)': { ...frame(WindowUpdate, { payload: bytes(3) }), refusal: frameSize },
  'a long WINDOW_UPDATE (6.9)': { ...frame(WindowUpdate, { payload: bytes(5) }), refusal: frameSize },
  'WINDOW_UPDATE of an idle stream (5.1)': {
    ...frame(WindowUpdate, { stream: 1, payload: uint32(1) }),
    refusal: protocol,
  },
  'WINDOW_UPDATE beyond the largest window (6.9.1)': {
    ...frame(WindowUpdate, { payload: uint32(0x7fff_ffff) }),
    refusal: flowControl,
  },
  'CONTINUATION of nothing (6.10)': {
    ...frame(Continuation, { stream: 1, flags: Flag.EndHeaders, payload: block }),
    refusal: protocol,
  },
  'CONTINUATION after a complete head (6.10)': {
    send: onOpen((client) => {
      client.send({ type: Continuation, stream: 1, flags: Flag.EndHeaders, payload: block })
    }),
    refusal: { ...protocol, asked: 1 },
  },
  'CONTINUATION on another stream (6.10)': {
    send: (client) => {
      client.send({ type: Headers, flags: Flag.EndStream, stream: 1, payload: block })
      client.send({ type: Continuation, stream: 3, flags: Flag.EndHeaders })
    },
    refusal: protocol,
  },
  'DATA on an idle stream (5.1)': { ...frame(Data, { stream: 1, payload: bytes(1) }), refusal: protocol },
  'empty DATA on an idle stream (5.1)': { ...frame(Data, { stream: 1 }), refusal: protocol },
  'DATA on a stream of the server, which is idle (5.1)': {
    send: afterFifth((client) => client.data(2)),
    refusal: { ...protocol, asked: 1 },
  },
  'WINDOW_UPDATE of a stream of the server, which is idle (5.1)': {
    send: afterFifth((client) => client.window(2, 1)),
    refusal: { ...protocol, asked: 1 },
  },
  'a request on a stream of even number (5.1.1)': {
    ...frame(Headers, { flags: whole, stream: 2, payload: block }),
    refusal: protocol,
  },
  'a frame that is too large (4.2)': {
    ...frame(Data, { stream: 1, payload: bytes(maxPayloadBytes + 1) }),
    refusal: frameSize,
  },
  'SETTINGS that are too large (4.2)': {
    ...frame(Settings, { payload: bytes(maxPayloadBytes + 2) }),
    refusal: frameSize,
  },
  'a head that is too large for a frame (4.2)': {
    ...frame(Headers, { stream: 1, flags: whole, payload: bytes(maxPayloadBytes + 1) }),
    refusal: frameSize,
  },
  'a frame of no known type that is too large (4.2)': {
    ...frame(0xfa, { payload: bytes(maxPayloadBytes + 1) }),
    refusal: frameSize,
  },
  'a head without room for the length of its padding (6.2)': {
    ...frame(Headers, { stream: 1, flags: whole | Flag.Padded }),
    refusal: padding,
  },
  'a head with too much padding (6.2)': {
    ...frame(Headers, { stream: 1, flags: whole | Flag.Padded, payload: Buffer.from([5, 0x82, 0x87, 0, 0]) }),
    refusal: padding,
  },
  'a head with so much padding that its priority has no room (6.2)': {
    ...frame(Headers, {
      stream: 1,
      flags: whole | Flag.Padded | Flag.Priority,
      payload: Buffer.from([3, 0, 0, 0, 0, 0, 0]),
    }),
    refusal: padding,
  },
  'a head that is too short for its priority (6.2)': {
    ...frame(Headers, { stream: 1, flags: whole | Flag.Priority, payload: bytes(4) }),
    refusal: padding,
  },
  'DATA without room for the length of its padding (6.1)': {
    send: onOpen((client) => client.send({ type: Data, stream: 1, flags: Flag.Padded })),
    refusal: { ...padding, asked: 1 },
  },
  'DATA with too much padding (6.1)': {
    send: onOpen((client) => {
      client.send({ type: Data, stream: 1, flags: Flag.Padded, payload: Buffer.from([3, 0, 0]) })
    }),
    refusal: { ...padding, asked: 1 },
  },
}

/** What may come while a head is not complete: its CONTINUATION, and nothing else (6.10). */
const interruptions: Readonly<Record<string, SentFrame>> = {
  'DATA of its stream': { type: Data, stream: 1, payload: bytes(1) },
  'another head': { type: Headers, stream: 3, flags: whole, payload: block },
  'another head of its stream': { type: Headers, stream: 1, flags: whole, payload: block },
  PRIORITY: { type: Priority, stream: 3, payload: bytes(5) },
  'RST_STREAM of its stream': { type: Reset, stream: 1, payload: bytes(4) },
  SETTINGS: { type: Settings },
  PING: { type: Ping, payload: bytes(8) },
  GOAWAY: { type: GoAway, payload: bytes(8) },
  WINDOW_UPDATE: { type: WindowUpdate, payload: uint32(1) },
  'a frame of no known type': { type: 0xfa },
}

/** Frames that RFC 9113 has a receiver ignore. */
const ignored: Readonly<Record<string, (client: FrameClient) => void>> = {
  'a frame of no known type (5.5)': (client) => client.send({ type: 0xfa, flags: 0xff, payload: bytes(20) }),
  'a frame of no known type on an idle stream (5.5)': (client) => client.send({ type: 0xfa, stream: 77 }),
  'a setting that is not known (6.5.2)': (client) => {
    client.send({ type: Settings, payload: settingsOf([0xfafa, 1], [0, 5]) })
  },
  'flags that are not defined (4.1)': (client) => {
    client.send({ type: Ping, flags: 0xfe, payload: bytes(8) })
    client.send({ type: WindowUpdate, flags: 0xff, payload: uint32(1) })
  },
  'the reserved bit of a stream identifier (4.1)': (client) => {
    client.send({ type: Ping, stream: 0x8000_0000, payload: bytes(8) })
  },
  'an acknowledgement of a PING that nobody sent (6.7)': (client) => {
    client.send({ type: Ping, flags: Flag.Ack, payload: bytes(8) })
  },
  'PRIORITY of an idle stream (5.3.2)': (client) => client.priority(9, 5),
  'GOAWAY with a text (6.8)': (client) => {
    client.send({ type: GoAway, payload: Buffer.from('\0\0\0\0\0\0\0\0bye') })
  },
  'a table of any size for the answers (6.5.2)': (client) => {
    for (const size of [0, 1, 4_096, 0xffff_ffff, 0]) {
      client.send({ type: Settings, payload: settingsOf([1, size]) })
    }
  },
}

/** A request that the client has ended, and that is not answered. */
const onHalfClosed = (then: (client: FrameClient) => void) => (client: FrameClient) => {
  client.head(1, silentRequest)
  then(client)
}

const ofStream = (...codes: readonly ErrorCode[]): Refusal => ({ stream: 1, codes, asked: 1 })

/** Frames that end their stream. */
const streamErrors: Readonly<Record<string, Case>> = {
  'DATA after the end of the request (5.1)': {
    send: onHalfClosed((client) => client.data(1)),
    refusal: ofStream(ErrorCode.StreamClosed),
  },
  'empty DATA after the end of the request (5.1)': {
    send: onHalfClosed((client) => client.send({ type: Data, stream: 1 })),
    refusal: ofStream(ErrorCode.StreamClosed),
  },
  'a head after the end of the request (5.1)': {
    send: onHalfClosed((client) => client.head(1, [['a', 'b']])),
    refusal: ofStream(ErrorCode.StreamClosed),
  },
  'WINDOW_UPDATE by nothing (6.9)': {
    send: onHalfClosed((client) => client.window(1, 0)),
    refusal: ofStream(ErrorCode.Protocol),
  },
  'WINDOW_UPDATE beyond the largest window (6.9.1)': {
    send: onHalfClosed((client) => client.window(1, 0x7fff_ffff)),
    refusal: ofStream(ErrorCode.FlowControl),
  },
  'a short PRIORITY (6.3)': {
    send: onHalfClosed((client) => client.send({ type: Priority, stream: 1, payload: bytes(4) })),
    refusal: ofStream(ErrorCode.FrameSize),
  },
}

describe('a frame of HTTP/2 that is an error', () => {
  let scene: HostileScene
  let client: FrameClient

  beforeEach(async () => {
    scene = await HostileScene.start({ streamWindowBytes: 65_535 })
    client = await scene.client()
  })
  afterEach(() => scene.close())

  for (const [title, { send, refusal }] of Object.entries(connectionErrors)) {
    it(`ends the connection: ${title}`, async () => {
      send(client)
      await scene.refuses(client, refusal)
    })
  }

  for (const [title, interruption] of Object.entries(interruptions)) {
    it(`ends the connection when it interrupts a head: ${title}`, async () => {
      client.send({ type: Headers, flags: Flag.EndStream, stream: 1, payload: block })
      client.send(interruption)
      client.send({ type: Continuation, flags: Flag.EndHeaders, stream: 1 })
      await scene.refuses(client, protocol)
    })
  }

  for (const [title, { send, refusal }] of Object.entries(streamErrors)) {
    it(`ends its stream: ${title}`, async () => {
      send(client)
      await scene.refuses(client, refusal)
    })
  }

  it('ends its stream: DATA beyond the window of the stream (6.9.1)', async () => {
    // The request waits for an instance, so nobody takes its body.
    scene.front.traffic.answer = () => waiting
    let admit: ((admitted: undefined) => void) | undefined
    const waiting = new Promise<undefined>((resolve) => (admit = resolve))
    client.request(1, { body: true })
    for (let count = 0; count < 5; count += 1) {
      client.send({ type: Data, stream: 1, payload: bytes(maxPayloadBytes) })
    }
    await client.sees('the refusal', () => client.resetCode(1) ?? client.goAwayCode)
    assert.equal(client.resetCode(1) ?? client.goAwayCode, ErrorCode.FlowControl)
    scene.front.traffic.answer = undefined
    admit?.(undefined)
    await scene.servesOthers()
  })

  for (const [title, send] of Object.entries(ignored)) {
    it(`is ignored if the RFC says so: ${title}`, async () => {
      send(client)
      await scene.goesOn(client, 101)
    })
  }
})
