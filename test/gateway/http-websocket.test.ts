import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { constants } from 'node:http2'
import type { ClientHttp2Stream } from 'node:http2'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketFrames } from '../../src/gateway/http/forward/websocket-frames.ts'
import { TestFront, exchangeRaw, fixedRoutes, onBothRoads, routeService } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'

const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** A server that accepts every WebSocket, and hands the connection to the test. */
function webSocketServer(onOpen: (socket: Duplex) => void, onAsked: () => void = () => undefined): Server {
  const server = createServer((_request, response) => {
    response.writeHead(426, { 'X-Reason': 'only websockets' })
    response.end('not here')
  })
  server.on('upgrade', (request, socket) => {
    const key = request.headers['sec-websocket-key'] ?? ''
    const accept = createHash('sha1').update(`${key}${magic}`).digest('base64')
    socket.on('error', () => undefined)
    onAsked()
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    onOpen(socket)
  })
  return server
}

const handshake = (host: string): string =>
  `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

function connectRaw(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(handshake('app.test'))
  return socket
}

const textFrame = (text: string): Buffer =>
  Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)])

onBothRoads('a WebSocket through the gateway', () => {
  let front: TestFront
  let upstream: Upstream
  let opened: Duplex[] = []
  /** Called before the instance answers the handshake. */
  let asked: () => void

  beforeEach(async () => {
    opened = []
    // Node's WebSocket client sends the host of its URL. So the service has a domain that leads to loopback.
    const domains = [{ fqdn: 'localhost' }, { fqdn: 'app.test' }]
    front = await TestFront.start({
      limits: { webSocketCloseMs: 500 },
      routes: fixedRoutes(routeService({ domains })),
    })
    asked = () => undefined
    upstream = await Upstream.listening(
      webSocketServer(
        (socket) => opened.push(socket),
        () => asked(),
      ),
    )
    front.traffic.port = upstream.port
  })

  afterEach(async () => {
    await front.traffic.idle()
    assert.deepEqual(front.errors, [])
    await front.close()
    upstream.close()
  })

  async function open(): Promise<{ readonly client: WebSocket; readonly instance: Duplex }> {
    const client = new WebSocket(`ws://localhost:${front.plainPort}/`)
    await once(client, 'open')
    const [instance] = opened
    assert.ok(instance)
    return { client, instance }
  }

  const closed = async (client: WebSocket): Promise<{ code: number; wasClean: boolean }> => {
    const [event] = (await once(client, 'close')) as [CloseEvent]
    return { code: event.code, wasClean: event.wasClean }
  }

  it('carries messages both ways, in order and whole', async () => {
    const { client, instance } = await open()
    const messages: string[] = []
    client.addEventListener('message', ({ data }) => messages.push(String(data)))
    const frame = textFrame('hello')
    instance.write(frame.subarray(0, 3))
    instance.write(Buffer.concat([frame.subarray(3), textFrame('again')]))
    while (messages.length < 2) await once(client, 'message')
    assert.deepEqual(messages, ['hello', 'again'])
    client.send('up')
    const [bytes] = (await once(instance, 'data')) as [Buffer]
    assert.equal(bytes[0], 0x81)
    client.close(1000)
    await once(instance, 'data')
    instance.end(Buffer.from([0x88, 0x02, 0x03, 0xe8]))
    assert.deepEqual(await closed(client), { code: 1000, wasClean: true })
    assert.equal((await front.report()).protocol, 'websocket')
    assert.equal((await front.report()).status, 101)
  })

  it('is closed with 1001 when its instance shuts down, between two frames', async () => {
    const { client, instance } = await open()
    const messages: string[] = []
    client.addEventListener('message', ({ data }) => messages.push(String(data)))
    const frame = textFrame('half of it, then the rest')
    const first = textFrame('first')
    instance.write(Buffer.concat([first, frame.subarray(0, 7)]))
    await once(client, 'message')
    front.traffic.tell('close')
    instance.write(Buffer.concat([frame.subarray(7), textFrame('too late')]))
    assert.deepEqual(await closed(client), { code: 1001, wasClean: true })
    assert.deepEqual(messages, ['first', 'half of it, then the rest'])
  })

  it('is closed with 1001 at once if no frame is under way', async () => {
    const { client } = await open()
    front.traffic.tell('close')
    assert.deepEqual(await closed(client), { code: 1001, wasClean: true })
  })

  it('is closed with 1001 as soon as it is open if its instance is already shutting down', async () => {
    asked = () => front.traffic.tell('close')
    const { client } = await open()
    assert.deepEqual(await closed(client), { code: 1001, wasClean: true })
  })

  it('ends after a while if the client does not answer the close', async () => {
    const client = connectRaw(front.plainPort)
    await once(client, 'data')
    front.traffic.tell('close')
    await once(client, 'close')
  })

  it('ends with its instance', async () => {
    const { client } = await open()
    const ending = closed(client)
    front.traffic.tell('gone')
    assert.equal((await ending).code, 1006)
  })

  it('ends for the instance with its client', async () => {
    const client = connectRaw(front.plainPort)
    await once(client, 'data')
    const [instance] = opened
    client.destroy()
    assert.ok(instance)
    instance.resume()
    await once(instance, 'end')
    instance.destroy()
  })

  it('that the instance refuses gets the answer of the instance', async () => {
    const plain = await Upstream.http((_request, response) => {
      response.writeHead(403, { 'X-Reason': 'no' })
      response.end('not you')
    })
    front.traffic.boot += 1
    front.traffic.port = plain.port
    const answer = await exchangeRaw(front.plainPort, handshake('app.test'))
    assert.match(answer, /^HTTP\/1\.1 403 [^]*x-reason: no\r\n[^]*not you/i)
    plain.close()
  })

  it('to a service that does not exist gets an answer of HTTP', async () => {
    assert.match(await exchangeRaw(front.plainPort, handshake('nobody.test')), /^HTTP\/1\.1 404 /)
  })

  it('over HTTP/2 is the same', async () => {
    const session = await front.connectHttp2()
    assert.equal(session.remoteSettings.enableConnectProtocol, true)
    const stream = session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'https',
      ':path': '/',
      ':authority': 'app.test',
      'sec-websocket-version': '13',
    })
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
    assert.equal(headers[':status'], 200)
    assert.equal(headers['sec-websocket-accept'], undefined)
    const [instance] = opened
    instance?.write(textFrame('hello'))
    const [frame] = (await once(stream, 'data')) as [Buffer]
    assert.deepEqual(frame, textFrame('hello'))
    stream.write(Buffer.from([0x81, 0x80, 0, 0, 0, 0]))
    assert.equal(((await once(instance ?? assert.fail(), 'data')) as [Buffer])[0].length, 6)
    front.traffic.tell('close')
    assert.deepEqual(((await once(stream, 'data')) as [Buffer])[0], Buffer.from([0x88, 2, 3, 0xe9]))
    stream.end(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 3, 0xe9]))
    stream.resume()
    await once(stream, 'close')
    session.destroy()
  })

  it('that carries nothing for long ends, over HTTP/2 too', async () => {
    const idle = await TestFront.start({
      limits: { webSocketIdleMs: 300 },
      routes: fixedRoutes(routeService({ domains: [{ fqdn: 'app.test' }] })),
    })
    idle.traffic.port = upstream.port
    const plain = connectRaw(idle.plainPort)
    plain.resume()
    await once(plain, 'close')
    const session = await idle.connectHttp2()
    const stream = session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'https',
      ':path': '/',
      ':authority': 'app.test',
      'sec-websocket-version': '13',
    })
    stream.on('error', () => undefined)
    stream.resume()
    await once(stream, 'close')
    await idle.traffic.idle()
    session.destroy()
    await idle.close()
  })

  for (const [how, leave] of [
    ['resets its stream', (stream: ClientHttp2Stream) => stream.close(constants.NGHTTP2_CANCEL)],
    [
      'resets its stream without an error',
      (stream: ClientHttp2Stream) => stream.close(constants.NGHTTP2_NO_ERROR),
    ],
    ['ends its stream', (stream: ClientHttp2Stream) => stream.end()],
  ] as const) {
    it(`over HTTP/2 ends for the instance with a client that ${how}, whose connection stays`, async () => {
      const session = await front.connectHttp2()
      const stream = session.request({
        ':method': 'CONNECT',
        ':protocol': 'websocket',
        ':scheme': 'https',
        ':path': '/',
        ':authority': 'app.test',
        'sec-websocket-version': '13',
      })
      await once(stream, 'response')
      const [instance] = opened
      assert.ok(instance)
      instance.write(textFrame('hello'))
      await once(stream, 'data')
      leave(stream)
      stream.resume()
      instance.resume()
      await once(instance, 'end')
      instance.end()
      await front.traffic.idle()
      session.destroy()
    })
  }
})

describe('the frames of a WebSocket', () => {
  const frames = Buffer.concat([
    Buffer.from([0x82, 0x00]),
    Buffer.from([0x82, 0x05, 1, 2, 3, 4, 5]),
    Buffer.concat([Buffer.from([0x82, 126, 0x01, 0x00]), Buffer.alloc(256)]),
    Buffer.concat([Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]), Buffer.alloc(65_536)]),
    Buffer.concat([Buffer.from([0x82, 0x83, 9, 9, 9, 9]), Buffer.alloc(3)]),
  ])
  const ends = [2, 9, 269, 269 + 65_546, 269 + 65_546 + 9]

  for (const step of [1, 2, 7, 1_000, frames.length]) {
    it(`end where they end, read ${step} bytes at a time`, () => {
      const reader = new WebSocketFrames()
      const found: number[] = []
      for (let at = 0; at < frames.length;) {
        const bytes = reader.follow(frames.subarray(at, at + step), { stop: true })
        at += bytes
        if (reader.atBoundary) found.push(at)
      }
      assert.deepEqual(found, ends)
      assert.equal(reader.closing, false)
    })
  }

  it('say when their sender closes', () => {
    const reader = new WebSocketFrames()
    reader.follow(Buffer.from([0x88, 0x02, 0x03, 0xe8]), { stop: false })
    assert.equal(reader.closing, true)
  })
})
