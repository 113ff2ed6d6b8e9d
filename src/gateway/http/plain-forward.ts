import type { Dispatcher } from 'undici'
import type { Admission } from '../traffic.ts'
import { BodyRelay } from './body-relay.ts'
import type { Exchange, Forwarding } from './exchange.ts'
import { HttpFailure } from './http-failure.ts'
import { UpstreamFault } from './request-observer.ts'
import { flatFields } from './server-fields.ts'
import type { Watched } from './sweep.ts'
import { upstreamFields } from './upstream-fields.ts'
import { faultOf, unspeakable } from './upstream-fault.ts'
import type { UpstreamConnection, UpstreamPool } from './upstream-pool.ts'

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

class PlainForward implements Forwarding, Dispatcher.DispatchHandler, Watched {
  readonly #exchange: Exchange
  readonly #pool: UpstreamPool
  readonly #fresh: boolean
  readonly #options: Dispatcher.DispatchOptions
  #connection: UpstreamConnection | undefined
  #controller: Dispatcher.DispatchController | undefined
  #movedAtMs = 0
  watching: Watched['watching']
  #retried = false
  #retrying: NodeJS.Timeout | undefined
  /** Whether some of the answer has come. If so, the request is not sent again. */
  #answered = false
  #aborted: Error | undefined

  constructor(exchange: Exchange, admission: Admission) {
    const { request, client, parts } = exchange
    this.#exchange = exchange
    this.#fresh = admission.fresh
    this.#pool = parts.pools.of(admission)
    const { fields, requestId } = upstreamFields(request, client.connection)
    const bytes = request.bodyBytes ?? 0
    if (bytes > 0) fields.push('Content-Length', String(bytes))
    this.#options = {
      path: request.target,
      method: request.method,
      headers: fields,
      body: bytes > 0 ? relayBody(exchange) : null,
      reset: false,
      blocking: false,
    }
    exchange.forwarded(requestId)
  }

  get repeatable(): boolean {
    return !this.#answered && this.#options.body === null && repeatable.has(this.#options.method)
  }

  get movedAtMs(): number {
    const { body } = this.#options
    return body instanceof BodyRelay ? Math.max(this.#movedAtMs, body.movedAtMs) : this.#movedAtMs
  }

  get limitMs(): number {
    const { limits } = this.#exchange.parts
    return this.#answered ? limits.responseIdleMs : limits.responseHeaderMs
  }

  stuck(): void {
    this.#exchange.upstreamFailed(UpstreamFault.TimedOut, new Error('the instance is silent'))
  }

  send(): void {
    this.#connection = this.#pool.take({ fresh: this.#fresh, reuse: !this.#retried })
    if (this.#connection === undefined) {
      const message = 'The application has too many open connections.'
      return this.#exchange.failWith(new HttpFailure(503, message, { retryAfterMs: 1_000 }))
    }
    this.#movedAtMs = performance.now()
    this.#exchange.parts.sweep.watch(this)
    this.#connection.client.dispatch(this.#options, this)
  }

  abort(reason: Error): void {
    if (this.#aborted !== undefined) return
    this.#aborted = reason
    clearTimeout(this.#retrying)
    const { body } = this.#options
    if (body instanceof BodyRelay) body.destroy()
    if (this.#controller !== undefined) this.#controller.abort(reason)
    // No request has been sent: the connection is still being made, and the dispatched request ends with
    // it.
    else this.#release(false)
  }

  pause(): void {
    this.#exchange.parts.sweep.unwatch(this)
    this.#controller?.pause()
  }

  resume(): void {
    if (this.#connection === undefined) return
    this.#movedAtMs = performance.now()
    this.#exchange.parts.sweep.watch(this)
    this.#controller?.resume()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#aborted !== undefined) controller.abort(this.#aborted)
  }

  onResponseStarted(): void {
    this.#answered = true
    this.#movedAtMs = performance.now()
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    reason = '',
  ): void {
    if (status < 200) return this.#exchange.inform(status, flatFields(headers))
    this.#exchange.answer(status, reason, flatFields(headers))
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#movedAtMs = performance.now()
    this.#exchange.data(chunk)
  }

  onResponseEnd(
    _controller: Dispatcher.DispatchController,
    trailers: Record<string, string | string[] | undefined>,
  ): void {
    this.#release(true)
    this.#exchange.end(flatFields(trailers))
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const used = this.#connection?.used === true
    this.#release(false)
    if (this.#aborted !== undefined) return
    if (this.#mayRetry(used)) {
      this.#retry(used)
      return
    }
    const blamed = unspeakable(error)
    if (blamed === undefined) this.#exchange.upstreamFailed(faultOf(error), error)
    else this.#exchange.failWith(blamed)
  }

  /**
   * Whether the request may be sent again. The instance may just have closed a connection that was used
   * before, or an instance that was just started may not be ready.
   */
  #mayRetry(used: boolean): boolean {
    if (!this.repeatable) return false
    if (used) return !this.#retried
    const { startedAtMs, parts } = this.#exchange
    return this.#fresh && performance.now() - startedAtMs < parts.limits.freshConnectMs && this.#pool.silent
  }

  #retry(used: boolean): void {
    this.#retried = true
    this.#controller = undefined
    if (used) this.send()
    else this.#retrying = setTimeout(() => this.send(), retryPauseMs)
  }

  #release(intact: boolean): void {
    const connection = this.#connection
    if (connection === undefined) return
    this.#connection = undefined
    this.#exchange.parts.sweep.unwatch(this)
    if (intact) this.#pool.silent = false
    this.#pool.release(connection, { intact })
  }
}

export function relayBody(exchange: Exchange): BodyRelay {
  const { client, parts } = exchange
  return new BodyRelay(client.body, {
    sweep: parts.sweep,
    limitMs: parts.limits.requestBodyIdleMs,
    onStuck: () => exchange.failWith(new HttpFailure(408, 'The body of the request did not arrive in time.')),
  })
}
