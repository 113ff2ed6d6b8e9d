import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Admission } from '../../traffic.ts'
import type { BodyRelay } from './body-relay.ts'
import type { Exchange } from '../exchange.ts'
import type { Forwarding } from '../forwarding.ts'
import { relayBody } from './plain-forward.ts'
import { UpstreamFault } from '../request-observer.ts'
import { faultOf } from '../upstream/upstream-fault.ts'
import { trailerFields, upstreamFields } from '../upstream/upstream-fields.ts'
import { writeAndFree } from '../../write-and-free.ts'

/**
 * Forwards the requests that need every step of the protocol: those with `Expect`, a body without a length
 * or trailers, and `OPTIONS *`. It sends the head before the body has begun. It uses a connection of its
 * own: a request of this kind could not be repeated, so it must not be sent over a connection that the
 * instance is closing.
 */
export function forwardExactly(exchange: Exchange, admission: Admission): Forwarding {
  return new ExactForward(exchange, admission)
}

class ExactForward implements Forwarding {
  readonly #exchange: Exchange
  readonly #body: BodyRelay | undefined
  #giveUp: (() => void) | undefined
  #request: ClientRequest | undefined
  #response: IncomingMessage | undefined
  #over = false

  constructor(exchange: Exchange, admission: Admission) {
    this.#exchange = exchange
    this.#body = exchange.request.bodyBytes === 0 ? undefined : relayBody(exchange)
    this.#giveUp = exchange.parts.pools.of(admission).connect(admission.fresh, (result) => {
      if (result instanceof Error) this.#fail(result)
      else exchange.attempt(() => this.#send(result))
    })
  }

  get unsent(): boolean {
    return this.#request === undefined
  }

  abort(): void {
    this.#over = true
    this.#giveUp?.()
    this.#body?.destroy()
    this.#request?.destroy()
  }

  pause(): void {
    this.#response?.pause()
  }

  resume(): void {
    this.#response?.resume()
  }

  #send(socket: Socket): void {
    this.#giveUp = undefined
    const { request, client, parts } = this.#exchange
    const { fields, requestId } = upstreamFields(request, client.connection, this.#exchange.trace?.upstream)
    if (request.expectsContinue) fields.push('Expect', '100-continue')
    if (request.bodyBytes === undefined) fields.push('Transfer-Encoding', 'chunked')
    else if (request.bodyBytes > 0) fields.push('Content-Length', String(request.bodyBytes))
    this.#exchange.forwarded(requestId)
    const sent = httpRequest({
      method: request.method,
      path: request.target,
      headers: fields,
      createConnection: () => socket,
      maxHeaderSize: parts.limits.maxResponseHeaderBytes,
      setDefaultHeaders: false,
    })
    this.#request = sent
    sent.setTimeout(parts.limits.responseHeaderMs, () => this.#timedOut())
    sent.on('continue', () => this.#exchange.inform(100, []))
    sent.on('information', ({ statusCode, rawHeaders }) => {
      if (statusCode !== 100) this.#exchange.inform(statusCode, rawHeaders)
    })
    sent.on('response', (response) => this.#answer(response))
    sent.on('upgrade', (_response, upgraded) => {
      upgraded.destroy()
      this.#fail(new Error('bad upgrade'))
    })
    sent.on('error', (error) => this.#fail(error))
    // Sends the head at once. Node's `flushHeaders` would write bytes above 127 as two bytes of UTF-8.
    sent.write('', 'latin1')
    this.#pass(sent)
  }

  #pass(sent: ClientRequest): void {
    const body = this.#body
    if (body === undefined) {
      sent.end()
      return
    }
    body.on('data', (chunk: Buffer) => {
      if (!writeAndFree(sent, chunk)) body.pause()
    })
    sent.on('drain', () => body.resume())
    body.on('end', () => {
      if (this.#over) return
      const trailers = trailerFields(this.#exchange.client.trailers())
      if (trailers.length > 0 && this.#exchange.request.bodyBytes === undefined) {
        sent.addTrailers(pairs(trailers))
      }
      sent.end()
    })
  }

  #answer(response: IncomingMessage): void {
    this.#response = response
    this.#request?.setTimeout(this.#exchange.parts.limits.responseIdleMs)
    response.on('error', (error) => this.#fail(error))
    this.#exchange.answer(response.statusCode ?? 0, response.statusMessage ?? '', response.rawHeaders)
    response.on('data', (chunk: Buffer) => this.#exchange.data(chunk))
    response.on('end', () => {
      this.#over = true
      // First of all: when the answer ends, the client's side reads the rest of the body and drops it.
      this.#body?.destroy()
      this.#exchange.end(response.rawTrailers)
      this.#request?.destroy()
    })
  }

  #timedOut(): void {
    if (this.#over) return
    this.#exchange.upstreamFailed(UpstreamFault.TimedOut, new Error('the instance is silent'))
  }

  #fail(error: Error): void {
    if (this.#over) return
    this.#over = true
    this.#exchange.upstreamFailed(faultOf(error), error)
  }
}

function pairs(flat: readonly string[]): [string, string][] {
  const found: [string, string][] = []
  for (let index = 0; index < flat.length; index += 2) found.push([flat[index] ?? '', flat[index + 1] ?? ''])
  return found
}
