import assert from 'node:assert/strict'
import { TestFront } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'
import { FrameClient, FrameType } from '../support/http2-frames.ts'

const largestIncrement = 0x7fff_ffff
/** The codes of RFC 9113, section 7. */
const protocolError = 1
const flowControlError = 3
const streamClosed = 5

describe('a frame of HTTP/2 that is not permitted where it comes', () => {
  let front: TestFront
  let upstream: Upstream
  let client: FrameClient
  /** Whether the application answers. If not, requests stay open. */
  let answers: boolean

  beforeEach(async () => {
    answers = true
    upstream = await Upstream.http((_request, response) => {
      if (answers) response.end('hello')
    })
    front = await TestFront.start()
    front.traffic.port = upstream.port
    client = await FrameClient.connect(front.tlsPort)
  })

  afterEach(async () => {
    client.close()
    await front.traffic.idle()
    assert.deepEqual(front.errors, [])
    await front.close()
    upstream.close()
  })

  /** Asserts that there were `asked` requests so far, and that the connection serves stream `next`. */
  async function ignored(next: number, asked: number): Promise<void> {
    await client.settled()
    assert.equal(front.traffic.asked, asked)
    client.request(next)
    await client.answered(next)
    assert.equal(front.traffic.asked, asked + 1)
    assert.deepEqual(
      client.received.filter(({ type }) => type === FrameType.GoAway),
      [],
    )
  }

  /** Asserts that the connection ends with this code, and that there were `asked` requests. */
  async function ended(code: number, asked: number): Promise<void> {
    await client.ended()
    const last = client.received.findLast(({ type }) => type === FrameType.GoAway)
    assert.equal(last?.payload.readUInt32BE(4), code)
    assert.equal(front.traffic.asked, asked)
  }

  it('ends the connection when its stream identifier is smaller than one before', async () => {
    client.request(5)
    await client.answered(5)
    client.request(3)
    await ended(streamClosed, 1)
    assert.ok(client.received.every(({ stream }) => stream !== 3))
  })

  it('ends the connection when it is a request on a stream that was answered', async () => {
    client.request(1)
    await client.answered(1)
    client.request(1)
    await ended(streamClosed, 1)
  })

  it('is told its stream is closed when it is a body on a stream that was answered', async () => {
    client.request(1)
    await client.answered(1)
    client.data(1)
    const reset = await client.got(({ type, stream }) => type === FrameType.Reset && stream === 1)
    assert.equal(reset.payload.readUInt32BE(0), streamClosed)
    await ignored(3, 1)
  })

  it('is no body when the gateway has reset its stream', async () => {
    client.request(1, { body: true })
    await client.answered(1)
    await client.got(({ type, stream }) => type === FrameType.Reset && stream === 1)
    client.data(1)
    client.data(1)
    await ignored(3, 1)
  })

  it('ends the connection when it is a request on a stream that the client has reset', async () => {
    answers = false
    client.request(1, { body: true })
    await client.settled()
    client.reset(1)
    client.request(1)
    await ended(streamClosed, 1)
  })

  it('ends the connection when it is a priority of a stream that depends on itself, or of no stream', async () => {
    client.priority(1, 1)
    await ended(protocolError, 0)
    client = await FrameClient.connect(front.tlsPort)
    client.priority(0, 1)
    await ended(protocolError, 0)
  })

  it('ends its stream when it makes the window of that stream too large', async () => {
    answers = false
    client.request(1, { body: true })
    await client.settled()
    client.window(1, largestIncrement)
    const reset = await client.got(({ type, stream }) => type === FrameType.Reset && stream === 1)
    assert.equal(reset.payload.readUInt32BE(0), flowControlError)
    await front.traffic.idle()
    answers = true
    await ignored(3, 1)
  })

  it('ends the connection when it makes the window of the connection too large', async () => {
    client.window(0, largestIncrement)
    await ended(flowControlError, 0)
  })

  it('is ignored when it acknowledges a ping that nobody sent', async () => {
    client.send({ type: FrameType.Ping, flags: 1, payload: Buffer.from('unasked!') })
    await ignored(1, 0)
  })
})
