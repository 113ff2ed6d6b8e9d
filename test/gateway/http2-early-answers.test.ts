import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { defaultHttpLimits } from '../../src/gateway/http/http-limits.ts'
import { TestFront, testHost } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'
import { ErrorCode, FrameClient, FrameType } from '../support/http2-frames.ts'

const { maxResets, streamWindowBytes } = defaultHttpLimits
const piece = Buffer.alloc(16_384)
const shortMs = 50
/** No test waits for so long. */
const longMs = 60_000

describe('an answer of HTTP/2 that comes before the end of its request', () => {
  let front: TestFront
  let upstream: Upstream
  let client: FrameClient

  async function start(lingerMs: number, status = 404): Promise<void> {
    upstream = await Upstream.http((request, response) => {
      request.pause()
      response.writeHead(status).end('no such page')
    })
    front = await TestFront.start({ limits: { ...defaultHttpLimits, lingerMs } })
    front.traffic.port = upstream.port
    client = await FrameClient.connect(front.tlsPort)
  }

  afterEach(async () => {
    client.close()
    await front.traffic.idle()
    assert.deepEqual(front.errors, [])
    await front.close()
    upstream.close()
  })

  /** How much of a body the client may have sent over the first stream by now. */
  function allowedBytes(): number {
    const updates = client.received.filter((one) => one.type === FrameType.WindowUpdate && one.stream === 1)
    return updates.reduce((sum, { payload }) => sum + payload.readUInt32BE(0), streamWindowBytes)
  }

  /** Asserts that the connection serves a request over this stream. */
  async function serves(stream: number): Promise<void> {
    client.request(stream)
    await client.answered(stream)
    await client.settled()
    assert.equal(client.goAwayCode, undefined)
  }

  it('leaves its stream open for a while if it is an error, and what comes over it is dropped', async () => {
    await start(longMs)
    client.request(1, { body: true })
    await client.answered(1)
    for (let sentBytes = 0; sentBytes < 3 * streamWindowBytes; sentBytes += piece.length) {
      await client.sees('a larger window', () => allowedBytes() >= sentBytes + piece.length)
      client.send({ type: FrameType.Data, stream: 1, payload: piece })
    }
    await serves(3)
    assert.equal(client.resetCode(1), undefined)
  })

  it('has its stream ended at once, with no error, if it is no error', async () => {
    await start(longMs, 200)
    client.request(1, { body: true })
    await client.answered(1)
    await client.settled()
    assert.equal(client.resetCode(1), ErrorCode.None)
    client.data(1)
    await serves(3)
  })

  it('has its stream ended, with no error, when the request does not end in time', async () => {
    await start(shortMs)
    client.request(1, { body: true })
    await client.answered(1)
    const code = await client.sees('the end of the stream', () => client.resetCode(1))
    assert.equal(code, ErrorCode.None)
    client.data(1)
    await serves(3)
  })

  it('has its stream ended by the end of the request', async () => {
    await start(longMs)
    client.request(1, { body: true })
    await client.answered(1)
    client.data(1)
    await client.settled()
    assert.equal(client.resetCode(1), undefined)
    client.data(1)
    const code = await client.sees('the end of the stream', () => client.resetCode(1))
    assert.equal(code, ErrorCode.StreamClosed)
    await serves(3)
  })

  it('may be followed by the client’s reset, as often as it likes', async () => {
    await start(longMs)
    for (let count = 0; count <= maxResets; count += 1) {
      const stream = 2 * count + 1
      client.request(stream, { body: true })
      await client.answered(stream)
      client.reset(stream)
    }
    await serves(2 * maxResets + 3)
  })

  for (const from of ['an application', 'the gateway']) {
    it(`is shown by curl, if it is from ${from}`, async () => {
      await start(longMs)
      const isRefused = from === 'the gateway'
      if (isRefused) {
        front.traffic.answer = () => ({ admitted: false, reason: 'timed-out', retryAfterMs: 1_000 })
      }
      const folder = await mkdtemp(join(tmpdir(), 'roost-early-'))
      try {
        const file = join(folder, 'body')
        await writeFile(file, Buffer.alloc(30 << 20))
        const url = `https://${testHost}:${front.tlsPort}/`
        const to = `${testHost}:${front.tlsPort}:127.0.0.1`
        const flags = ['-sSk', '--http2', '--resolve', to, '-w', ' %{http_version} %{http_code}']
        const { stdout } = await promisify(execFile)('curl', [...flags, '-T', file, url])
        assert.match(stdout, isRefused ? /did not start in time.* 2 503$/s : /^no such page 2 404$/)
      } finally {
        await rm(folder, { recursive: true })
      }
    })
  }
})
