import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import fc from 'fast-check'
import { defaultHttpLimits } from '../../src/gateway/http/http-limits.ts'
import { TestFront, fixedRoutes, routeService } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'
import { FrameParser, FrameType, preface } from '../support/http2-frames.ts'
import { connectionFrom } from '../support/http2-grammar.ts'
import { isWhole, readingOfInstance, readingOfNghttp2 } from '../support/http2-readings.ts'
import type { Reading } from '../support/http2-readings.ts'
import { Nghttp2Connection, endingZeros, lastPing } from '../support/nghttp2-server.ts'
import { PlainFrameClient } from '../support/plain-frame-client.ts'
import { Tape, fuzzRuns, fuzzTimeoutMs } from '../support/tape.ts'

const large = 1 << 20
const limits = {
  ...defaultHttpLimits,
  maxHeaderBytes: large,
  maxHeaderCount: 10_000,
  maxTargetBytes: large,
  maxResets: 1_000_000,
}
/** To simplify a failure takes longer than the time limit, so only runs by hand do it. */
const isByHand = fuzzTimeoutMs === 0
const connectionTapes = fc.uint8Array({ minLength: 100, maxLength: 700, size: 'max' })

describe('requests of HTTP/2', () => {
  let front: TestFront
  let upstream: Upstream
  let port: number
  /**
   * The address from which the connection at hand comes. Each has another one: what is left of a connection
   * that was closed may reach the instance when the next one is open.
   */
  let source = ''
  let connections = 0
  /** What the instance got of the connection at hand. */
  const seen: Reading[] = []
  const counts = { taken: 0, refused: 0 }

  before(async () => {
    const service = routeService()
    const server = createServer({ maxHeaderSize: large }, (request, response) => {
      let body = ''
      request.setEncoding('latin1')
      request.on('error', () => undefined)
      request.on('data', (chunk: string) => (body += chunk))
      request.on('end', () => {
        // A tunnel is no request with a body.
        if (request.headers.upgrade !== undefined) return void response.writeHead(204).end()
        const isOfThis = request.headers['x-forwarded-for'] === source
        if (request.complete && isOfThis) seen.push(readingOfInstance(request, body))
        // No body: the client may have closed its window.
        response.writeHead(204).end()
      })
    })
    server.keepAliveTimeout = 0
    upstream = await Upstream.listening(server)
    front = await TestFront.start({ limits, routes: { ...fixedRoutes(service), serviceOf: () => service } })
    front.traffic.port = upstream.port
    port = await front.listenHttp2()
  })
  after(async () => {
    await front.close()
    upstream.close()
  })

  async function readAlike(tape: Tape): Promise<void> {
    const { bytes } = connectionFrom(tape)
    const nghttp2 = new Nghttp2Connection()
    connections += 1
    source = `127.1.${Math.floor(connections / 254) % 256}.${1 + (connections % 254)}`
    const client = new PlainFrameClient(port, source)
    seen.length = 0
    try {
      // Bytes that end within a frame, for one of both, are followed by more. After some errors Node reads
      // no more, and does not say so.
      const isWithin = !(await nghttp2.read(bytes))
      if (isWithin && !(await nghttp2.read(endingZeros))) return
      const tail = nghttp2.goAwayCode === undefined ? [] : [endingZeros]
      client.send(Buffer.concat([bytes, lastPing, ...tail]))
      // A stream that the client resets gets no answer.
      const isReset = hasReset(bytes)
      const complete = isReset ? [] : [...nghttp2.requests].filter(([, { complete: is }]) => is)
      await client.settled(complete.map(([stream]) => stream))
      client.close()
      await front.traffic.idle()
      assert.deepEqual(front.errors, [])
      // nghttp2 tells nothing of a request that its client resets at once; the gateway may have passed it on.
      if (!isReset) compare(nghttp2, client)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      throw new Error(`${bytes.toString('hex')}: ${message}`, { cause: error })
    } finally {
      nghttp2.close()
      client.close()
    }
  }

  function compare(nghttp2: Nghttp2Connection, client: PlainFrameClient): void {
    const all = [...nghttp2.requests.values()]
    if (!client.isRefused && nghttp2.goAwayCode === undefined) {
      const readings = all.filter(isWhole).map(readingOfNghttp2)
      for (const reading of seen) assertHas(readings, reading, same)
      counts.taken += seen.length
      return
    }
    counts.refused += 1
    // Node ends the connection after some requests for which the gateway only resets their stream.
    if (client.hasReset) return
    // Node may not tell of the requests that came together with the error.
    if (all.length < seen.length) return
    // What came before the error may have been passed on, or not; nghttp2 may not have told all of its body.
    const readings = all.map(readingOfNghttp2)
    for (const reading of seen) assertHas(readings, reading, isBeginOf)
  }

  it('reach the instance as nghttp2 reads them', async function () {
    this.timeout(fuzzTimeoutMs)
    const { numRuns = 0, ...settings } = fuzzRuns(2_500)
    await fc.assert(
      fc.asyncProperty(connectionTapes, async (choices) => readAlike(new Tape(choices))),
      { numRuns, ...settings, endOnFailure: !isByHand },
    )
    if (isByHand) console.log(`      ${JSON.stringify(counts)}`)
    assert.ok(counts.taken > numRuns / 2 && counts.refused > numRuns / 20, JSON.stringify(counts))
  })
})

/** Whether the client resets a stream. */
function hasReset(bytes: Buffer): boolean {
  const parser = new FrameParser()
  parser.take(bytes.subarray(preface.length))
  return parser.frames.some(({ type }) => type === FrameType.Reset)
}

const same = (one: Reading, other: Reading): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Whether the first reading may be what was told of the second one when the connection broke. */
function isBeginOf(one: Reading, other: Reading): boolean {
  const withoutBody = { body: '', trailers: [] }
  return same({ ...one, ...withoutBody }, { ...other, ...withoutBody }) && other.body.startsWith(one.body)
}

function assertHas(
  readings: readonly Reading[],
  wanted: Reading,
  fits: (one: Reading, other: Reading) => boolean,
): void {
  if (!readings.some((reading) => fits(reading, wanted))) {
    assert.deepEqual(wanted, readings, 'only one of them reads this request')
  }
}
