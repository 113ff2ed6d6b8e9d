import assert from 'node:assert/strict'
import type { TLSSocket } from 'node:tls'
import fc from 'fast-check'
import type { Exchange } from '../../src/gateway/http/exchange.ts'
import { createHttpFront } from '../../src/gateway/http/http-front.ts'
import type { HttpFront } from '../../src/gateway/http/http-front.ts'
import type { Http2Stream } from '../../src/gateway/http/http2/http2-stream.ts'
import { FakeTraffic, fixedRoutes, routeService } from '../support/gateway-http.ts'
import { FrameParser, FrameType } from '../support/http2-frames.ts'
import type { Frame } from '../support/http2-frames.ts'
import { connectionFrom } from '../support/http2-grammar.ts'
import { Nghttp2Connection, Wire, isLastAnswer, lastPing } from '../support/nghttp2-server.ts'
import { Tape, fuzzRuns, fuzzTimeoutMs } from '../support/tape.ts'

/** What one side read of a stream. */
interface Reading {
  readonly method: string
  readonly target: string
  readonly authority: string | undefined
  readonly fields: readonly string[]
  body: string
  trailers: readonly string[]
  ended: boolean
  /** Whether the stream was reset, or ended with its connection. */
  isReset: boolean
}
class Readings extends Map<number, Reading> {
  endedConnection = false
  /** Whether a stream was reset, or answered with a refusal. */
  refused = false
}

const maxTurns = 1_000

/** The gateway's end of a connection within this process. */
class GatewaySocket extends Wire {
  readonly remoteAddress = '127.0.0.1'
  /** What the gateway has sent. */
  readonly frames: readonly Frame[]

  constructor() {
    const parser = new FrameParser()
    super((bytes) => parser.take(bytes))
    this.frames = parser.frames
  }

  setNoDelay(): void {}
  setKeepAlive(): void {}
  setTimeout(): void {}
  destroySoon(): void {
    this.end()
  }

  /** Gives the gateway the pieces, and a PING behind them. Resolves when all of it is read. */
  async feed(pieces: readonly Buffer[]): Promise<void> {
    for (const piece of [...pieces, lastPing]) this.push(piece)
    for (let turn = 0; turn < maxTurns && !this.#isRead; turn += 1) await nextTurn()
    // What was read is reported in later turns.
    await nextTurn()
    await nextTurn()
  }

  get #isRead(): boolean {
    return this.destroyed || this.writableEnded || this.frames.some(isLastAnswer)
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Reads a connection by the gateway. No request is answered. */
async function readByGateway(
  front: HttpFront,
  traffic: FakeTraffic,
  pieces: readonly Buffer[],
): Promise<Readings> {
  const readings = new Readings()
  const exchanges: [reading: Reading, exchange: Exchange][] = []
  traffic.answer = (ask) => {
    const { client: side, request } = ask as Exchange
    const client = side as Http2Stream
    const reading: Reading = {
      method: request.webSocket ? 'CONNECT' : request.method,
      target: request.target,
      authority: request.authority,
      fields: request.fields,
      body: '',
      trailers: [],
      ended: client.requestEnded,
      isReset: false,
    }
    readings.set(client.id, reading)
    exchanges.push([reading, ask as Exchange])
    if (client.requestEnded || request.bodyBytes === 0) return new Promise(() => undefined)
    client.body.on('data', (bytes: Buffer) => (reading.body += bytes.toString('latin1')))
    client.body.on('end', () => {
      reading.ended = true
      reading.trailers = client.trailers()
    })
    return new Promise(() => undefined)
  }
  const socket = new GatewaySocket()
  front.serveHttp2(socket as unknown as TLSSocket, { publicPort: 443, secure: true })
  await socket.feed(pieces)
  for (const [reading, exchange] of exchanges) reading.isReset = exchange.over
  readings.refused = socket.frames.some(({ type }) => type === FrameType.Reset || type === FrameType.Headers)
  socket.destroy()
  return readings
}

/** Reads a connection by nghttp2, which is in Node. */
async function readByNode(pieces: readonly Buffer[]): Promise<Readings> {
  const readings = new Readings()
  const nghttp2 = new Nghttp2Connection()
  await nghttp2.read(Buffer.concat(pieces))
  readings.endedConnection = nghttp2.isClosed
  for (const [id, { fields, body, trailers, complete, isClosed }] of nghttp2.requests) {
    const valueOf = (name: string): string | undefined => {
      const at = fields.findIndex((each, index) => index % 2 === 0 && each === name)
      return at < 0 ? undefined : fields[at + 1]
    }
    readings.set(id, {
      method: valueOf(':method') ?? '',
      target: valueOf(':path') ?? '/',
      authority: valueOf(':authority'),
      fields: fields.slice(fields.findLastIndex((name, at) => at % 2 === 0 && name.startsWith(':')) + 2),
      body,
      trailers,
      ended: complete,
      isReset: isClosed,
    })
  }
  nghttp2.close()
  return readings
}

/** Whatever the gateway took, nghttp2 must have read alike. */
function compare(ours: Readings, theirs: Readings, isIntact: boolean): void {
  for (const [id, mine] of ours) {
    const other = theirs.get(id)
    // Node ends the connection after some requests that are malformed. The gateway refuses these alone, as
    // RFC 9113 asks.
    if (other === undefined && theirs.endedConnection && ours.refused) continue
    // Node does not tell of a request that its client resets at once.
    if (other === undefined && mine.isReset) continue
    assert.ok(other !== undefined, `stream ${id} was taken by the gateway alone`)
    assert.deepEqual(
      { method: mine.method, target: mine.target, authority: mine.authority, fields: mine.fields },
      {
        method: other.method,
        target: other.target,
        authority: other.authority ?? mine.authority,
        fields: withOneCookie(other.fields),
      },
      `stream ${id}`,
    )
    // What ends takes what Node has not told yet with it.
    if (theirs.endedConnection || other.isReset) continue
    assert.ok(other.body.startsWith(mine.body), `the bodies of stream ${id}: ${mine.body}, ${other.body}`)
    if (!mine.ended) continue
    assert.ok(other.ended, `stream ${id} ended for the gateway alone`)
    assert.equal(mine.body, other.body, `the body of stream ${id}`)
    assert.deepEqual(mine.trailers, other.trailers, `the trailers of stream ${id}`)
  }
  if (isIntact) assert.deepEqual([...ours.keys()], [...theirs.keys()], 'the streams that were taken')
}

/** The gateway joins the cookies of a request, as RFC 9113 (8.2.3) asks. */
function withOneCookie(fields: readonly string[]): string[] {
  const isCookie = (value: string, at: number): boolean =>
    at % 2 === 1 && fields[at - 1] === 'cookie' && value !== ''
  const cookies = fields.filter(isCookie).join('; ')
  let isFirst = true
  return fields.flatMap((name, at) => {
    if (at % 2 === 1) return []
    if (name !== 'cookie') return [name, fields[at + 1] ?? '']
    const joined = isFirst ? [name, cookies] : []
    isFirst = false
    return joined
  })
}

function inPieces(bytes: Buffer, tape: Tape): Buffer[] {
  const pieces: Buffer[] = []
  let at = 0
  for (let cuts = tape.below(4); cuts > 0; cuts--) {
    const to = Math.min(bytes.length, at + 1 + tape.below(bytes.length))
    pieces.push(bytes.subarray(at, to))
    at = to
  }
  return [...pieces, bytes.subarray(at)].filter(({ length }) => length > 0)
}

/** To simplify a failure takes longer than the time limit, so only runs by hand do it. */
const isByHand = fuzzTimeoutMs === 0

describe('the front for HTTP/2', () => {
  it('reads whatever it takes of a connection as nghttp2 does', async function () {
    this.timeout(fuzzTimeoutMs)
    const errors: unknown[] = []
    const traffic = new FakeTraffic()
    const service = routeService()
    const routes = { ...fixedRoutes(service), serviceOf: () => service }
    const front = createHttpFront({ routes, traffic, portOffset: 0, onError: (error) => errors.push(error) })
    const { numRuns = 0, ...settings } = fuzzRuns(20_000)
    let taken = 0
    let bodies = 0
    let left = 0
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400, size: 'max' }), async (choices) => {
        const tape = new Tape(choices)
        const { bytes, isIntact } = connectionFrom(tape)
        const pieces = inPieces(bytes, tape)
        const [ours, theirs] = [await readByGateway(front, traffic, pieces), await readByNode(pieces)]
        try {
          compare(ours, theirs, isIntact)
          assert.deepEqual(errors, [])
        } catch (error) {
          throw new Error(`${bytes.toString('hex')}: ${String(error)}`, { cause: error })
        }
        taken += ours.size
        left += Math.max(0, theirs.size - ours.size)
        for (const { body, ended } of ours.values()) if (ended && body !== '') bodies += 1
      }),
      { numRuns, ...settings, endOnFailure: !isByHand },
    )
    const shares = `${taken} requests taken, ${bodies} with a body, ${left} refused that nghttp2 takes`
    if (isByHand) console.log(`      ${shares}`)
    assert.ok(taken > numRuns && bodies > numRuns / 20, shares)
    await front.close()
  })
})
