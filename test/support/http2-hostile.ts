import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import type { HttpLimits } from '../../src/gateway/http/http-limits.ts'
import { defaultHttpLimits } from '../../src/gateway/http/http-limits.ts'
import { TestFront } from './gateway-http.ts'
import { Upstream } from './gateway-http-upstream.ts'
import { ErrorCode, FrameClient } from './http2-frames.ts'

/**
 * How the gateway may refuse what a client must not send. It may end the connection, with the same code,
 * where RFC 9113 has it end a stream.
 */
export interface Refusal {
  /** The stream that is refused. Without one the connection has to end. */
  readonly stream?: number
  readonly codes: readonly ErrorCode[]
  /** Whether an answer of 400 does as well: RFC 9113, 8.1.1 allows it for a malformed request. */
  readonly orAnswer?: boolean
  /** How many requests had come before and so reached the instance. */
  readonly asked?: number
}

/** A front for hostile clients, and one well-behaved client that has to be served all the time. */
export class HostileScene {
  readonly front: TestFront
  readonly upstream: Upstream
  readonly #clients: FrameClient[] = []
  /** The stream of the next request of the well-behaved client. */
  #nextStream = 1
  #bystander: FrameClient | undefined
  /** Requests of the well-behaved client. */
  #served = 0

  private constructor(front: TestFront, upstream: Upstream) {
    this.front = front
    this.upstream = upstream
  }

  /** `answer`: what the instance answers once the request is complete; undefined if it never answers. */
  static async start(
    over: Partial<HttpLimits> = {},
    answer: (request: IncomingMessage) => string | Buffer | undefined = helloUnlessSilent,
  ): Promise<HostileScene> {
    const upstream = await Upstream.http((request, response) => {
      request.on('error', () => undefined)
      request.resume()
      const body = answer(request)
      if (body !== undefined) request.on('end', () => response.end(body))
    })
    const front = await TestFront.start({ limits: { ...defaultHttpLimits, ...over } })
    front.traffic.port = upstream.port
    const scene = new HostileScene(front, upstream)
    scene.#bystander = await FrameClient.connect(front.tlsPort)
    await scene.servesOthers()
    return scene
  }

  /** How many requests of hostile clients were passed on. */
  get asked(): number {
    return this.front.traffic.asked - this.#served
  }

  async client(settings?: Buffer): Promise<FrameClient> {
    const client = await FrameClient.connect(this.front.tlsPort, settings)
    this.#clients.push(client)
    return client
  }

  /** A connection over which nothing was sent. */
  async silentClient(): Promise<FrameClient> {
    const client = await FrameClient.open(this.front.tlsPort)
    this.#clients.push(client)
    return client
  }

  /** Asserts that the well-behaved client is served. */
  async servesOthers(): Promise<void> {
    assert.ok(this.#bystander !== undefined)
    const stream = this.#nextStream
    this.#nextStream += 2
    this.#served += 1
    this.#bystander.request(stream)
    await this.#bystander.answered(stream)
    assert.equal(this.front.reports.at(-1)?.status, 200)
  }

  /** Asserts that what the client has sent is refused in one of the ways that `refusal` has. */
  async refuses(client: FrameClient, refusal: Refusal): Promise<void> {
    const { stream, codes, orAnswer = false, asked = 0 } = refusal
    await client.sees('the refusal', () => {
      const isReset = stream !== undefined && client.resetCode(stream) !== undefined
      return isReset || client.closed || (stream !== undefined && client.isAnswered(stream))
    })
    const answered = stream !== undefined && client.isAnswered(stream)
    const code = (stream === undefined ? undefined : client.resetCode(stream)) ?? client.goAwayCode
    if (orAnswer && answered) assert.equal(this.front.reports.at(-1)?.status, 400)
    else {
      assert.ok(!answered, 'it is answered')
      assert.ok(code !== undefined && codes.some((each) => each === code), `the code is ${code}`)
    }
    assert.equal(this.asked, asked)
    if (!client.closed && client.goAwayCode === undefined) await this.goesOn(client, (stream ?? 1) + 100)
    await this.servesOthers()
  }

  /** Asserts that the connection is open and serves a request on this stream. */
  async goesOn(client: FrameClient, stream: number): Promise<void> {
    await client.settled()
    client.request(stream)
    await client.answered(stream)
    assert.equal(client.goAwayCode, undefined)
  }

  /** Asserts that the connection is ended because it asked for too much. */
  async calmsDown(client: FrameClient): Promise<void> {
    await client.ended()
    assert.equal(client.goAwayCode, ErrorCode.EnhanceYourCalm)
    await this.servesOthers()
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.close()
    this.#bystander?.close()
    await this.front.traffic.idle()
    assert.deepEqual(this.front.errors, [])
    await this.front.close()
    this.upstream.close()
  }
}

/** The path of requests that the instance never answers. */
export const silentPath = '/silent'

function helloUnlessSilent({ url }: IncomingMessage): string | undefined {
  return url === silentPath ? undefined : 'hello'
}
