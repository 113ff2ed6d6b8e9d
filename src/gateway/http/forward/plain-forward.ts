import type { Admission } from '../../traffic.ts'
import { BodyRelay } from './body-relay.ts'
import type { Exchange } from '../exchange.ts'
import type { Forwarding } from '../forwarding.ts'
import { HttpFailure } from '../http-failure.ts'
import type { UpstreamConnection, UpstreamRequest } from '../upstream/upstream-connection.ts'
import { UpstreamFault } from '../request-observer.ts'
import { ConnectTimeout } from '../upstream/upstream-address.ts'
import { upstreamLines } from '../upstream/upstream-fields.ts'
import { faultOf } from '../upstream/upstream-fault.ts'
import type { UpstreamPool } from '../upstream/upstream-pool.ts'

/**
 * Forwards a request without a body, or with a body of known length, on a connection that other requests use
 * before and after.
 */
export function forwardPlain(exchange: Exchange, admission: Admission): Forwarding {
  const forward = new PlainForward(exchange, admission)
  forward.send()
  return forward
}

/** Methods with which sending a request twice does the same as sending it once. */
const repeatable: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

const retryPauseMs = 20

class PlainForward implements Forwarding, UpstreamRequest {
  readonly method: string
  readonly #exchange: Exchange
  readonly #pool: UpstreamPool
  readonly #admission: Admission
  readonly #head: string
  /** The body until it was passed on completely. */
  #body: BodyRelay | undefined
  readonly #hasBody: boolean
  #connection: UpstreamConnection | undefined
  #retried = false
  #retrying: NodeJS.Timeout | undefined
  #sent = false
  /** Whether some of the answer has come. If so, the request is not sent again. */
  #answered = false
  #aborted = false

  constructor(exchange: Exchange, admission: Admission) {
    const { request, client, parts } = exchange
    this.#exchange = exchange
    this.method = request.method
    this.#admission = admission
    this.#pool = parts.pools.of(admission)
    const { lines, requestId } = upstreamLines(request, client.connection, exchange.trace?.upstream)
    const bytes = request.bodyBytes ?? 0
    // A server may refuse a POST that says nothing of its length.
    const length = bytes > 0 || expectsLength.has(this.method) ? `Content-Length: ${bytes}\r\n` : ''
    this.#head = `${this.method} ${request.target} HTTP/1.1\r\n${lines}${length}\r\n`
    this.#hasBody = bytes > 0
    if (this.#hasBody) this.#body = relayBody(exchange)
    exchange.forwarded(requestId)
  }

  get repeatable(): boolean {
    return !this.#answered && !this.#hasBody && repeatable.has(this.method)
  }

  get unsent(): boolean {
    return !this.#sent
  }

  send(): void {
    this.#connection = this.#pool.take({ fresh: this.#admission.fresh, reuse: !this.#retried })
    if (this.#connection === undefined) {
      const message = 'The application has too many open connections.'
      return this.#exchange.failWith(new HttpFailure(503, message, { retryAfterMs: 1_000 }))
    }
    this.#connection.begin(this)
  }

  abort(): void {
    if (this.#aborted) return
    this.#aborted = true
    clearTimeout(this.#retrying)
    this.#body?.destroy()
    this.#release(false)
  }

  pause(): void {
    this.#connection?.pause()
  }

  resume(): void {
    this.#connection?.resume()
  }

  ready(): void {
    this.#sent = true
    this.#connection?.send(this.#head)
    const body = this.#body
    if (body === undefined) return
    body.on('data', (chunk: Buffer) => {
      if (this.#connection?.write(chunk) === false) body.pause()
    })
    body.on('end', () => {
      this.#body = undefined
    })
  }

  drained(): void {
    this.#body?.resume()
  }

  inform(status: number, fields: readonly string[]): void {
    this.#answered = true
    this.#exchange.inform(status, fields)
  }

  head(status: number, reason: string, fields: readonly string[]): void {
    this.#answered = true
    this.#exchange.answer(status, reason, fields)
  }

  data(chunk: Buffer): void {
    this.#exchange.data(chunk)
  }

  flush(): void {
    if (this.#answered) this.#exchange.flush()
  }

  complete(trailers: readonly string[]): void {
    this.#body?.destroy()
    this.#release(this.#body === undefined)
    this.#exchange.end(trailers)
  }

  silent(): void {
    this.#exchange.upstreamFailed(UpstreamFault.TimedOut, new Error('the instance is silent'))
  }

  failed(error: Error): void {
    const used = this.#connection?.used === true
    this.#release(false)
    if (this.#aborted) return
    if (this.#mayRetry(used, error)) this.#retry(used)
    else this.#exchange.upstreamFailed(faultOf(error), error)
  }

  /**
   * Whether the request may be sent again. The instance may just have closed a connection that was used
   * before, or an instance that was just started may not be ready. One that sleeps by now is asked for anew.
   */
  #mayRetry(used: boolean, error: Error): boolean {
    if (!this.repeatable) return false
    if (used) return !this.#retried
    if (error instanceof ConnectTimeout || this.#admission.slept) return false
    const { startedAtMs, parts } = this.#exchange
    return (
      this.#admission.fresh &&
      performance.now() - startedAtMs < parts.limits.freshConnectMs &&
      this.#pool.silent
    )
  }

  /** What was sent is lost, and may be sent again. So the request is as if nothing of it was sent. */
  #retry(used: boolean): void {
    this.#retried = true
    this.#sent = false
    if (used) this.send()
    else this.#retrying = setTimeout(() => this.send(), retryPauseMs)
  }

  #release(intact: boolean): void {
    const connection = this.#connection
    if (connection === undefined) return
    this.#connection = undefined
    if (intact) this.#pool.silent = false
    this.#pool.release(connection, { intact })
  }
}

/** Methods whose requests have a body by their meaning, so that a length is expected even if it is 0. */
const expectsLength: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

export function relayBody(exchange: Exchange): BodyRelay {
  const { client, parts } = exchange
  return new BodyRelay(client.body, {
    sweep: parts.sweep,
    limitMs: parts.limits.requestBodyIdleMs,
    onStuck: () => exchange.failWith(new HttpFailure(408, 'The body of the request did not arrive in time.')),
  })
}
