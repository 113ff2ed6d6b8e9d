import type { RouteService } from '../../domain/service/route-feed.ts'
import { soundTraceparent } from '../../primitives/traces.ts'
import type { OpenSpan, Tracer } from '../../primitives/traces.ts'
import type { Admission, Refusal } from '../traffic.ts'
import type { RequestHead } from './request-head.ts'
import type { RequestReport } from './request-observer.ts'
import { isTraceparent } from './upstream/upstream-fields.ts'

/**
 * The spans of one public request: the request itself, each wait for an instance, and each time that it is
 * passed on. The client's `traceparent` is continued. Nothing that a client wrote becomes an attribute.
 */
export class RequestTrace {
  readonly #tracer: Tracer
  readonly #request: OpenSpan
  #wait: OpenSpan | undefined
  #upstream: OpenSpan | undefined

  constructor(tracer: Tracer, head: RequestHead) {
    this.#tracer = tracer
    this.#request = tracer.begin({
      name: methodOf(head.method),
      kind: 'server',
      parent: clientPlace(head.fields),
      attributes: { 'http.request.method': methodOf(head.method) },
    })
  }

  /** The place of the wait for an instance. */
  get wait(): string | undefined {
    return this.#wait?.traceparent
  }

  /** The place that the instance is told. */
  get upstream(): string | undefined {
    return this.#upstream?.traceparent
  }

  /** The request asks for an instance, the first time or again. */
  asks(service: RouteService, port: number): void {
    this.#upstream?.end({ failed: true })
    this.#upstream = undefined
    const attributes = { 'roost.service.uuid': service.uuid, 'server.port': port }
    this.#wait = this.#begin('gateway: lease', 'internal', attributes)
  }

  answered(result: Admission | Refusal): void {
    if (!result.admitted) {
      this.#wait?.end({ failed: true, attributes: { 'roost.refusal': result.reason } })
      this.#wait = undefined
      return
    }
    const woken = result.timing.wake
    this.#wait?.end(woken === undefined ? {} : { attributes: { 'roost.wake': woken.kind } })
    this.#wait = undefined
    const attributes = { 'roost.instance.uuid': result.instanceUuid, 'server.port': result.port }
    this.#upstream = this.#begin('gateway: instance', 'client', attributes)
  }

  end({ status, fault, protocol }: RequestReport): void {
    const attributes = { 'http.response.status_code': status }
    this.#wait?.end({ failed: true })
    this.#upstream?.end(
      fault === undefined ? { attributes } : { failed: true, attributes: { 'error.type': fault } },
    )
    this.#request.end({
      failed: status >= 500,
      attributes: { ...attributes, 'roost.protocol': protocol },
    })
  }

  #begin(name: string, kind: 'internal' | 'client', attributes: Record<string, string | number>): OpenSpan {
    return this.#tracer.begin({ name, kind, parent: this.#request.traceparent, attributes })
  }
}

/** The methods that have a meaning of their own. A client may send any other word. */
const methods: ReadonlySet<string> = new Set(
  'GET HEAD POST PUT PATCH DELETE OPTIONS CONNECT TRACE'.split(' '),
)

function methodOf(method: string): string {
  return methods.has(method) ? method : '_OTHER'
}

/** The client's place in its trace. Two of them are none, as W3C Trace Context says. */
function clientPlace(fields: readonly string[]): string | undefined {
  let found: string | undefined
  for (let index = 0; index < fields.length; index += 2) {
    if (!isTraceparent(fields[index] ?? '')) continue
    if (found !== undefined) return undefined
    found = fields[index + 1] ?? ''
  }
  return soundTraceparent(found)
}
