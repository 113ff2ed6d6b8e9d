import assert from 'node:assert/strict'
import { TestFront } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'
import { FrameClient, FrameType } from '../support/http2-frames.ts'

const largestIncrement = 0x7fff_ffff
/** The code FLOW_CONTROL_ERROR of RFC 9113, section 7. */
const flowControlError = 3

/**
 * The library nghttp2 in Node reads the frames. Decision 20 says which of these it forgives, and why the
 * gateway does not look at frames itself.
 */
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

  it('is no request when its stream identifier is smaller than one before', async () => {
    client.request(5)
    await client.answered(5)
    client.request(3)
    await ignored(7, 1)
    assert.ok(client.received.every(({ stream }) => stream !== 3))
  })

  it('is no request when its stream was answered', async () => {
    client.request(1)
    await client.answered(1)
    client.request(1)
    client.data(1)
    await ignored(3, 1)
  })

  it('is no request, and no body, when its stream was reset', async () => {
    answers = false
    client.request(1, { body: true })
    await client.settled()
    client.reset(1)
    client.request(1)
    client.data(1)
    answers = true
    await ignored(3, 1)
  })

  it('changes nothing when it is a priority, of a stream that depends on itself or of none', async () => {
    client.priority(1, 1)
    client.priority(0, 1)
    await ignored(1, 0)
  })

  it('ends the connection when it makes the window of an open stream too large, and its requests with it', async () => {
    answers = false
    client.request(1, { body: true })
    await client.settled()
    client.window(1, largestIncrement)
    await client.ended()
    await front.traffic.idle()
  })

  it('ends the connection when it makes the window of the connection too large', async () => {
    client.window(0, largestIncrement)
    await client.ended()
    const last = client.received.find(({ type }) => type === FrameType.GoAway)
    assert.equal(last?.payload.readUInt32BE(4), flowControlError)
  })

  it('ends the connection when it acknowledges a ping that nobody sent', async () => {
    client.send({ type: FrameType.Ping, flags: 1, payload: Buffer.from('unasked!') })
    await client.ended()
  })
})
