import { STATUS_CODES } from 'node:http'
import type { RouteService } from '../../domain/service/route-feed.ts'
import type { Entry } from '../roster.ts'
import type { Admission, Ask, EndReason, Refusal } from '../traffic.ts'
import { challengeAnswer, challengeFields } from './challenge-answer.ts'
import type { Ongoing } from './client-connection.ts'
import type { ClientSide } from './client-side.ts'
import { renderErrorPage } from './error-page.ts'
import type { RenderedPage } from './error-page.ts'
import { ClientGone } from './forwarding.ts'
import type { Forwarding } from './forwarding.ts'
import { HttpFailure } from './http-failure.ts'
import type { FrontParts } from './front-parts.ts'
import { UpstreamFault, protocolOf } from './request-observer.ts'
import { failureOfRefusal } from './refusals.ts'
import type { RequestHead } from './request-head.ts'
import { RequestTrace } from './request-trace.ts'
import { findDestination } from './request-routing.ts'
import { answerFields } from './upstream/server-fields.ts'
import { serverTiming } from './server-timing.ts'
import type { Watched } from './sweep.ts'
import { endsWithInstance, failureOfFault } from './upstream/upstream-fault.ts'
import { trailerFields } from './upstream/upstream-fields.ts'

/** Passes the request on, and tells the exchange what comes back. */
export type Forward = (exchange: Exchange, admission: Admission) => Forwarding

/** The status in the report on a request whose client went away before it was answered. */
const clientGoneStatus = 499

/**
 * One request from its head to the end of its answer. It finds the destination, asks for an admission, has
 * the request forwarded and answers the client. It gives the admission back once, and reports once.
 *
 * It is also the `Ask` for the balancer, so that a signal is only made for requests that have to wait.
 */
export class Exchange implements Ask, Ongoing, Watched {
  readonly kind = 'request'
  readonly client: ClientSide
  readonly parts: FrontParts
  readonly startedAtMs = performance.now()
  readonly limitMs: number
  movedAtMs = 0
  isTunnel = false
  watching: Watched['watching']
  head: RequestHead | undefined
  trace: RequestTrace | undefined
  #service: RouteService | undefined
  #port = 0
  #aborting: AbortController | undefined
  #forward: Forward | undefined
  #admission: Admission | undefined
  /** Set when the instance or its host ends: a failure from then on says nothing of the application. */
  #ends: EndReason | undefined
  #askedAgain = false
  #unlisten: (() => void) | undefined
  #forwarding: Forwarding | undefined
  #requestId: string | undefined
  onlyCurrent = false
  /** The rollout whose new version admitted or refused the request. */
  #rolloutUuid: string | undefined
  #status = 0
  #fault: UpstreamFault | undefined
  #method: string
  #forwardedAtMs = 0
  #headAtMs = 0
  #informed = 0
  #listensToDrain = false
  #over = false
  readonly #ongoing: Entry<Ongoing>

  constructor(parts: FrontParts, client: ClientSide, method: string) {
    this.parts = parts
    this.client = client
    this.#method = method
    this.limitMs = parts.limits.clientStallMs
    this.#ongoing = client.connection.ongoing.add(this)
  }

  get service(): RouteService {
    if (this.#service === undefined) throw new Error('the request has no destination yet')
    return this.#service
  }

  get port(): number {
    return this.#port
  }

  get signal(): AbortSignal {
    return (this.#aborting ??= new AbortController()).signal
  }

  get heldBytes(): number {
    return this.client.heldBytes
  }

  get over(): boolean {
    return this.#over
  }

  /** The request's header, once it is known. */
  get request(): RequestHead {
    if (this.head === undefined) throw new Error('the request has no head yet')
    return this.head
  }

  run(head: RequestHead, forward: Forward): void {
    this.head = head
    this.#forward = forward
    const { tracer } = this.parts
    if (tracer !== undefined) this.trace = new RequestTrace(tracer, head)
    try {
      const proof = challengeAnswer(head, this.client.connection, this.parts.routes)
      if (proof !== undefined) return this.#prove(proof)
      const destination = findDestination(head, this.client.connection, this.parts.routes)
      this.#service = destination.service
      if (destination.location !== undefined) return this.#redirect(destination.location)
      this.#port = destination.port
      this.#ask()
    } catch (error) {
      this.failWith(error)
    }
  }

  /** `requestId` is in the instance's log, and from now on also on the gateway's error page. */
  forwarded(requestId: string): void {
    this.#requestId = requestId
    this.#forwardedAtMs = performance.now()
  }

  /** Passes on an informational answer, which comes before the final one. */
  inform(status: number, fields: readonly string[]): void {
    if (this.#over) return
    this.#informed += 1
    if (this.#informed > this.parts.limits.maxInformational) {
      return this.upstreamFailed(UpstreamFault.Malformed, new Error('too many informational answers'))
    }
    if (status === 100) {
      if (this.head?.expectsContinue === true) this.client.continue()
    } else if (status !== 101) {
      const lowerCase = this.client.connection.http2
      this.attempt(
        () => this.client.inform(status, answerFields(fields, { status, lowerCase })),
        UpstreamFault.Malformed,
      )
    }
  }

  answer(status: number, reason: string, raw: readonly string[]): void {
    if (this.#over) return
    this.#headAtMs = performance.now()
    if (status < 200 || status > 999) {
      return this.upstreamFailed(UpstreamFault.Malformed, new Error('not a status'))
    }
    try {
      const fields = answerFields(raw, { status, lowerCase: this.client.connection.http2 })
      if (this.parts.serverTiming) {
        const upstreamMs = this.#headAtMs - this.#forwardedAtMs
        fields.push('server-timing', serverTiming(this.#admission?.timing, upstreamMs))
      }
      this.client.head(status, reason, fields)
      this.#status = status
    } catch (error) {
      this.upstreamFailed(UpstreamFault.Malformed, error)
    }
  }

  /** The protocol was switched, and the forwarding speaks the new one with the client by itself. */
  switched(status: number): void {
    this.isTunnel = true
    this.#headAtMs = performance.now()
    this.#status = status
  }

  data(chunk: Buffer): void {
    if (this.#over || this.client.write(chunk)) return
    this.#forwarding?.pause()
    this.movedAtMs = performance.now()
    this.parts.sweep.watch(this)
    if (this.#listensToDrain) return
    this.#listensToDrain = true
    this.client.onDrain(() => {
      this.parts.sweep.unwatch(this)
      this.#forwarding?.resume()
    })
  }

  /** Sends what has come of the answer, because nothing more follows at once. */
  flush(): void {
    if (!this.#over && this.client.headGiven) this.client.flush()
  }

  end(trailers?: readonly string[]): void {
    if (this.#over) return
    this.client.end(trailers === undefined || trailers.length === 0 ? undefined : trailerFields(trailers))
    this.finish()
  }

  /**
   * Runs a step that has no `try` around it, such as an event of a socket. What it throws ends this request
   * and not the process. `fault`: an instance's bytes are to blame.
   */
  attempt(step: () => void, fault?: UpstreamFault): void {
    try {
      step()
    } catch (error) {
      if (fault === undefined) this.failWith(error)
      else this.upstreamFailed(fault, error)
    }
  }

  /** Called by the forwarding when no answer can be had, or no more of it. */
  upstreamFailed(fault: UpstreamFault, error: unknown): void {
    if (this.#over) return
    const reason = error instanceof Error ? error : new Error('the instance failed')
    if (this.#mayAskAgain(fault)) return this.attempt(() => this.#askAgain(reason))
    this.#fault = fault
    const failure = failureOfFault(fault, this.#ends)
    if (this.#mayFallBack()) return this.attempt(() => this.#fallBack(failure))
    this.#forwarding?.abort(reason)
    this.failWith(failure)
  }

  /** Answers with a page if that is still possible. */
  failWith(error: unknown): void {
    if (this.#over) return
    const failure =
      error instanceof HttpFailure ? error : new HttpFailure(500, 'The gateway could not serve this request.')
    if (!(error instanceof HttpFailure)) this.parts.onError(error)
    this.#forwarding?.abort(failure)
    if (this.client.headGiven) this.client.breakOff()
    else this.#page(failure)
    this.finish()
  }

  clientGone(): void {
    if (this.#over) return
    this.#status = clientGoneStatus
    this.#aborting?.abort()
    this.#forwarding?.abort(new ClientGone('the client went away'))
    this.finish()
  }

  clientFailed(status: number, message: string): boolean {
    if (this.#over || this.client.headGiven) return false
    this.#aborting?.abort()
    this.failWith(new HttpFailure(status, message))
    return true
  }

  goAway(): void {
    this.#forwarding?.goAway?.()
  }

  /** Called when the client accepts none of the bytes that wait for it. */
  stuck(): void {
    if (this.#over) return
    this.client.breakOff()
    this.clientGone()
  }

  finish(): void {
    if (this.#over) return
    this.#over = true
    this.client.connection.ongoing.remove(this.#ongoing)
    const nowMs = performance.now()
    this.client.connection.movedAtMs = nowMs
    if (this.movedAtMs !== 0) this.parts.sweep.unwatch(this)
    this.#unlisten?.()
    this.#admission?.done()
    const report = this.#report(nowMs)
    this.parts.observer?.request(report)
    this.trace?.end(report)
    // The client's stream may outlive this: Node keeps streams of HTTP/2 in a table that is freed late.
    this.#unlisten = undefined
    this.#admission = undefined
    this.#forwarding = undefined
    this.#forward = undefined
  }

  #ask(): void {
    this.trace?.asks(this.service, this.#port)
    const admitted = this.parts.traffic.admit(this)
    if (!(admitted instanceof Promise)) return this.#admitted(admitted)
    admitted.then(
      (result) => this.#admitted(result),
      (error: unknown) => this.failWith(error),
    )
  }

  /** Only if the instance or its host ended: a request that ends one application would end the next too. */
  #mayAskAgain(fault: UpstreamFault): boolean {
    if (this.#askedAgain) return false
    // It fell asleep while the connection was being made. The request is like one that comes now.
    if (this.#forwarding?.unsent === true && this.#admission?.slept === true) return true
    if (this.#ends === undefined || !endsWithInstance(fault)) return false
    return this.#forwarding === undefined ? this.#forwardedAtMs === 0 : this.#forwarding.repeatable === true
  }

  /** A new version that accepts no connection must cost no request. */
  #mayFallBack(): boolean {
    return this.#rolloutUuid !== undefined && !this.onlyCurrent && this.#forwarding?.unsent === true
  }

  #fallBack(failure: HttpFailure): void {
    this.parts.observer?.fellBack?.({ ...this.#report(performance.now()), status: failure.status })
    this.#fault = undefined
    this.onlyCurrent = true
    this.#askAgain(failure)
  }

  #askAgain(reason: Error): void {
    this.#askedAgain = true
    this.#ends = undefined
    this.#rolloutUuid = undefined
    this.#unlisten?.()
    this.#unlisten = undefined
    this.#forwarding?.abort(reason)
    this.#forwarding = undefined
    this.#admission?.done()
    this.#admission = undefined
    this.#ask()
  }

  #admitted(result: Admission | Refusal): void {
    if (this.#over) {
      if (result.admitted) result.done()
      return
    }
    this.trace?.answered(result)
    this.#rolloutUuid = result.rolloutUuid
    if (!result.admitted) return this.failWith(failureOfRefusal(result))
    this.#admission = result
    const unlisten = result.onEnd((why) => {
      this.#ends = why
      if (why === 'close') this.goAway()
      else this.upstreamFailed(UpstreamFault.Reset, new Error(`the instance is ${why}`))
    })
    // The instance had already ended. The listener may have handled that.
    if (this.#admission !== result) return unlisten()
    this.#unlisten = unlisten
    try {
      this.#forwarding = this.#forward?.(this, result)
    } catch (error) {
      this.failWith(error)
    }
  }

  #prove(keyAuthorization: string): void {
    this.#give(200, { fields: challengeFields(keyAuthorization), body: keyAuthorization })
    this.finish()
  }

  #redirect(location: string): void {
    const message = 'This page is on another port.'
    const accept = this.head?.accept ?? ''
    this.#give(308, renderErrorPage({ status: 308, message, accept, location }))
    this.finish()
  }

  #page({ status, message, retryAfterMs }: HttpFailure): void {
    const accept = this.head?.accept ?? ''
    const allow = status === 405 ? 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' : undefined
    const requestId = this.#requestId
    this.#give(status, renderErrorPage({ status, message, accept, requestId, retryAfterMs, allow }))
  }

  #give(status: number, { fields, body }: RenderedPage): void {
    this.#status = status
    this.client.abandonBody()
    const lower = this.client.connection.http2
    this.client.head(
      status,
      STATUS_CODES[status] ?? '',
      lower ? fields.map((one, at) => (at % 2 ? one : one.toLowerCase())) : [...fields],
    )
    if (this.#method !== 'HEAD') this.client.write(Buffer.from(body))
    this.client.end()
  }

  #report(nowMs: number): Parameters<NonNullable<FrontParts['observer']>['request']>[0] {
    const timing = this.#admission?.timing
    return {
      serviceUuid: this.#service?.uuid,
      rolloutUuid: this.#rolloutUuid,
      instanceUuid: this.#admission?.instanceUuid,
      method: this.#method,
      status: this.#status,
      protocol: protocolOf(this.head, this.client.connection.http2),
      totalUs: Math.round((nowMs - this.startedAtMs) * 1_000),
      queuedUs: timing?.queuedUs ?? 0,
      wake: timing?.wake,
      upstreamUs:
        this.#headAtMs === 0 ? undefined : Math.round((this.#headAtMs - this.#forwardedAtMs) * 1_000),
      fault: this.#fault,
    }
  }
}
