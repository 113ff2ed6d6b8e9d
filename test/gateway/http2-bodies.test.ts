import assert from 'node:assert/strict'
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { TestFront } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'
import { FrameClient, FrameType, frameBytes, settingsOf } from '../support/http2-frames.ts'
import { until } from '../support/until.ts'

const mebibyte = 1 << 20
const block = Buffer.alloc(16_384)
const quietMs = 500

/** Sends a body that has no end, as fast as it is taken. */
class Upload {
  readonly stream: ClientHttp2Stream
  #written = 0

  constructor(session: ClientHttp2Session) {
    this.stream = session.request({ ':method': 'POST', ':path': '/', ':authority': 'app.test' })
    this.stream.on('error', () => undefined)
    this.stream.on('drain', () => this.#write())
    this.#write()
  }

  get sentBytes(): number {
    return this.#written - this.stream.writableLength
  }

  #write(): void {
    do this.#written += block.length
    while (this.stream.write(block))
  }
}

describe('bodies of HTTP/2 that nobody reads', function () {
  this.timeout(60_000)
  let front: TestFront
  let session: ClientHttp2Session
  let upstream: Upstream

  beforeEach(async () => {
    upstream = await Upstream.http((request) => void request.pause())
    front = await TestFront.start()
    front.traffic.port = upstream.port
    session = await front.connectHttp2()
    session.on('error', () => undefined)
  })

  afterEach(async () => {
    session.destroy()
    await front.traffic.idle()
    assert.deepEqual(front.errors, [])
    await front.close()
    upstream.close()
  })

  /** Sends until the gateway takes no more. Returns how much it took. */
  async function upload(streams: number): Promise<number> {
    const uploads = Array.from({ length: streams }, () => new Upload(session))
    const sentBytes = (): number => uploads.reduce((sum, each) => sum + each.sentBytes, 0)
    let before = -1
    while (sentBytes() !== before || front.traffic.asked < streams) {
      before = sentBytes()
      await delay(quietMs)
    }
    return before
  }

  it('take a bounded part of the gateway’s memory while an instance is woken, even if a client sends as many as it may', async () => {
    let answer: (() => void) | undefined
    const refused = new Promise<void>((resolve) => {
      answer = resolve
    })
    front.traffic.answer = async () => {
      await refused
      return { admitted: false, reason: 'timed-out', retryAfterMs: 1_000 }
    }
    const streams = session.remoteSettings.maxConcurrentStreams ?? 0
    const bytes = await upload(streams)
    assert.equal(front.traffic.asked, streams)
    assert.ok(bytes <= 40 * mebibyte, `${bytes} bytes of ${streams} bodies were taken`)
    answer?.()
  })

  it('take no more memory than they have bytes, about, if each byte comes in a frame of its own', async () => {
    let answer: (() => void) | undefined
    front.traffic.answer = async () => {
      await new Promise<void>((resolve) => (answer = resolve))
      return { admitted: false, reason: 'timed-out', retryAfterMs: 1_000 }
    }
    const client = await FrameClient.connect(front.tlsPort)
    client.request(1, { body: true })
    await client.settled()
    const before = heldBytes()
    const payload = Buffer.from('x')
    const frames = Array.from({ length: 20_000 }, () =>
      frameBytes({ type: FrameType.Data, stream: 1, payload }),
    )
    client.write(Buffer.concat(frames))
    await client.settled()
    assert.ok(heldBytes() - before < 4 * mebibyte, `${heldBytes() - before} bytes are held`)
    answer?.()
    client.close()
  })

  it('take a bounded part of the gateway’s memory while an application reads none of them', async () => {
    const streams = 16
    const before = heldBytes()
    const sent = await upload(streams)
    // Each body fills its window of 256 KiB. The buffers of the stream, of the relay and of the upstream
    // connection hold about as much again. Memory that is no longer held is freed some collections later.
    await until(
      `less than 0.75 MiB is held of each of ${streams} bodies of ${sent} bytes`,
      () => heldBytes() - before < streams * 0.75 * mebibyte,
      { limitMs: 20_000 },
    )
  })
})

describe('the bytes that one source holds over HTTP/2', function () {
  this.timeout(60_000)

  it('have a bound over all of its connections: those that hold most are ended, and the others are served', async () => {
    const upstream = await Upstream.http((request, response) => {
      if (request.method === 'POST') request.pause()
      else response.end('answered')
    })
    const front = await TestFront.start({}, { heldBytesPerSource: 2 * mebibyte })
    const ended = front.overBudget
    front.traffic.port = upstream.port
    const [greedy, modest] = [await front.connectHttp2(), await front.connectHttp2()]
    const closed = new Promise((resolve) => greedy.on('close', resolve))
    greedy.on('error', () => undefined)
    modest.on('error', () => undefined)
    const own = new Upload(modest)
    Array.from({ length: 16 }, () => new Upload(greedy))
    await closed
    assert.equal(ended.length, 1)
    assert.ok((ended[0] ?? 0) > mebibyte, String(ended))
    const get = modest.request({ ':path': '/', ':authority': 'app.test' })
    assert.equal(await text(get), 'answered')
    assert.ok(!own.stream.closed)
    modest.destroy()
    await front.traffic.idle()
    await front.close()
    upstream.close()
  })

  it('include answers that are complete for the gateway, and that the client does not take', async () => {
    const upstream = await Upstream.http((_request, response) => void response.end(Buffer.alloc(8_192)))
    const front = await TestFront.start({}, { heldBytesPerSource: mebibyte / 4 })
    front.traffic.port = upstream.port
    const initialWindow = 4
    const client = await FrameClient.connect(front.tlsPort, settingsOf([initialWindow, 0]))
    for (let stream = 1; stream < 200; stream += 2) client.request(stream)
    await client.settled()
    await front.traffic.idle()
    await client.ended()
    assert.equal(front.overBudget.length, 1)
    await front.close()
    upstream.close()
  })
})

function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().arrayBuffers
}
