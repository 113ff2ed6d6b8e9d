import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { plainBlock } from '../support/hpack-writer.ts'
import { TestFront } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'
import {
  Flag,
  FrameClient,
  FrameType,
  frameBytes,
  pseudoFields,
  settingsOf,
} from '../support/http2-frames.ts'
import { HostileScene } from '../support/http2-hostile.ts'

const mebibyte = 1 << 20
const initialWindow = 4
const large = Buffer.alloc(8 * mebibyte, 'l')
const block = plainBlock(pseudoFields)

/** Memory that is held outside of the heap, by the whole process. */
const outsideBytes = (): number => process.memoryUsage().arrayBuffers

describe('the requests of a client of HTTP/2 that takes none of its answers', function () {
  this.timeout(30_000)

  it('are not read any more, until it takes them', async () => {
    const upstream = await Upstream.http((_request, response) => {
      response.writeHead(204, { 'X-Large': 'x'.repeat(32_000) }).end()
    })
    const front = await TestFront.start()
    front.traffic.port = upstream.port
    const client = await FrameClient.connect(front.tlsPort)
    client.pause()
    const most = 1_000
    const together = 20
    let sent = 0
    while (sent < most && front.traffic.asked === sent) {
      for (const end = sent + together; sent < end; sent += 1) client.request(2 * sent + 1)
      for (let look = 0; look < 50 && front.traffic.asked < sent; look += 1) await delay(10)
      await front.traffic.idle()
    }
    // The kernel keeps some megabytes of the answers.
    assert.ok(sent < most, `${sent} requests were read`)
    client.resume()
    await client.answered(2 * sent - 1)
    assert.equal(front.traffic.asked, sent)
    client.close()
    await front.close()
    upstream.close()
  })
})

describe('an answer of HTTP/2 that is over for the gateway', () => {
  it('ends the connection if its client takes nothing of it', async () => {
    const scene = await HostileScene.start({ keepAliveMs: 200, clientStallMs: 600 })
    const client = await scene.client(settingsOf([initialWindow, 0]))
    client.request(1)
    await client.got(({ type, stream }) => type === FrameType.Headers && stream === 1)
    await scene.front.traffic.idle()
    await client.ended()
    await scene.close()
  })
})

describe('a client of HTTP/2 that takes its answers slowly', function () {
  this.timeout(30_000)
  let scene: HostileScene
  const clientStallMs = 1_500

  beforeEach(async () => {
    scene = await HostileScene.start({ clientStallMs }, ({ url }) => (url === '/large' ? large : 'hello'))
  })
  afterEach(() => scene.close())

  const largeRequest = pseudoFields.map(
    ([name, value]) => [name, name === ':path' ? '/large' : value] as const,
  )
  const streams = Array.from({ length: 100 }, (_, index) => 2 * index + 1)

  it('is held little for, however many streams it opens with a window of 0, and it ends', async () => {
    const client = await scene.client(settingsOf([initialWindow, 0]))
    const before = outsideBytes()
    for (const stream of streams) client.head(stream, largeRequest)
    await client.settled()
    await delay(500)
    // The instance has 8 MiB for each of the 100 requests.
    assert.ok(outsideBytes() - before < 100 * mebibyte, `${outsideBytes() - before} bytes are held`)
    await scene.servesOthers()
    assert.ok(client.received.every(({ type, payload }) => type !== FrameType.Data || payload.length === 0))
    await scene.front.traffic.idle()
    await scene.servesOthers()
  })

  it('gets an answer byte by byte if it opens its window so', async () => {
    const client = await scene.client(settingsOf([initialWindow, 0]))
    client.request(1)
    for (const letter of 'hello') {
      client.window(1, 1)
      await client.got(({ type, payload }) => type === FrameType.Data && payload.toString() === letter)
    }
    await client.answered(1)
    assert.ok(client.received.every(({ type, payload }) => type !== FrameType.Data || payload.length <= 1))
  })

  it('gets its answers when it changes the window of all streams from 0', async () => {
    const client = await scene.client(settingsOf([initialWindow, 0]))
    for (const stream of streams) client.request(stream)
    await client.settled()
    client.send({ type: FrameType.Settings, payload: settingsOf([initialWindow, 65_535]) })
    for (const stream of streams) await client.answered(stream)
  })

  it('gets nothing beyond a window that became negative', async () => {
    const client = await scene.client(settingsOf([initialWindow, 1_000]))
    client.head(1, largeRequest)
    const sentBytes = (): number =>
      client.received.reduce(
        (sum, { type, payload }) => sum + (type === FrameType.Data ? payload.length : 0),
        0,
      )
    await client.sees('the first bytes', () => sentBytes() === 1_000)
    client.send({ type: FrameType.Settings, payload: settingsOf([initialWindow, 10]) })
    client.window(1, 990)
    await client.settled()
    assert.equal(sentBytes(), 1_000)
    client.window(1, 7)
    await client.sees('seven more bytes', () => sentBytes() === 1_007)
    await client.settled()
    assert.equal(sentBytes(), 1_007)
    client.reset(1)
  })

  it('is held little for when it reads nothing at all', async () => {
    const client = await scene.client(settingsOf([initialWindow, 0x7fff_ffff]))
    client.window(0, 0x7fff_ffff - 65_535)
    client.pause()
    const before = outsideBytes()
    for (const stream of streams) client.head(stream, largeRequest)
    await delay(700)
    assert.ok(outsideBytes() - before < 100 * mebibyte, `${outsideBytes() - before} bytes are held`)
    await scene.servesOthers()
    await scene.front.traffic.idle()
    await scene.servesOthers()
  })

  it('is held little for when it asks again and again, and reads nothing', async () => {
    const client = await scene.client()
    client.pause()
    const before = outsideBytes()
    const payload = block
    const flags = Flag.EndHeaders | Flag.EndStream
    for (let round = 0; round < 200 && !client.isHeldBack; round += 1) {
      const frames = Array.from({ length: 100 }, (_, index) => 2 * (100 * round + index) + 1)
      client.write(
        Buffer.concat(
          frames.map((stream) => frameBytes({ type: FrameType.Headers, flags, stream, payload })),
        ),
      )
      await scene.front.traffic.idle()
      await delay(5)
    }
    assert.ok(outsideBytes() - before < 64 * mebibyte, `${outsideBytes() - before} bytes are held`)
    await scene.servesOthers()
  })
})
