import { randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Admission } from '../../traffic.ts'
import type { ClientSide } from '../client-side.ts'
import type { Exchange, Forward } from '../exchange.ts'
import type { Forwarding } from '../forwarding.ts'
import { UpstreamFault } from '../request-observer.ts'
import { answerFields } from '../upstream/server-fields.ts'
import { faultOf } from '../upstream/upstream-fault.ts'
import { upstreamFields } from '../upstream/upstream-fields.ts'
import { WebSocketTunnel } from './websocket-tunnel.ts'

/** A client that may be given a WebSocket. */
export interface UpgradableSide extends ClientSide {
  /** Tells the client that the WebSocket is open, and returns the stream that then goes both ways. */
  upgrade(fields: readonly string[]): Duplex
  /** The status with which `upgrade` answers. */
  readonly upgradeStatus: number
}

/** Opens a WebSocket to the instance, always as an upgrade of HTTP/1.1, whatever the client speaks. */
export function webSocketForward(client: UpgradableSide): Forward {
  return (exchange, admission) => new WebSocketForward(exchange, admission, client)
}

class WebSocketForward implements Forwarding {
  readonly #exchange: Exchange
  readonly #client: UpgradableSide
  readonly #giveUp: () => void
  #request: ClientRequest | undefined
  #response: IncomingMessage | undefined
  #tunnel: WebSocketTunnel | undefined
  /** Whether the WebSocket was told to end while it was still being opened. */
  #leaving = false
  #over = false

  constructor(exchange: Exchange, admission: Admission, client: UpgradableSide) {
    this.#exchange = exchange
    this.#client = client
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
    this.#giveUp()
    this.#request?.destroy()
    this.#tunnel?.end()
  }

  pause(): void {
    this.#response?.pause()
  }

  resume(): void {
    this.#response?.resume()
  }

  goAway(): void {
    this.#leaving = true
    this.#tunnel?.goAway()
  }

  #send(socket: Socket): void {
    const { request, client, parts } = this.#exchange
    const { fields, requestId } = upstreamFields(request, client.connection, this.#exchange.trace?.upstream)
    fields.push('Connection', 'Upgrade', 'Upgrade', 'websocket')
    if (client.connection.http2) fields.push('Sec-WebSocket-Key', randomBytes(16).toString('base64'))
    this.#exchange.forwarded(requestId)
    const sent = httpRequest({
      method: 'GET',
      path: request.target,
      headers: fields,
      createConnection: () => socket,
      maxHeaderSize: parts.limits.maxResponseHeaderBytes,
      setDefaultHeaders: false,
    })
    this.#request = sent
    sent.setTimeout(parts.limits.responseHeaderMs, () => {
      this.#exchange.upstreamFailed(UpstreamFault.TimedOut, new Error('the instance is silent'))
    })
    sent.on('upgrade', (response, upgraded, head) => {
      this.#exchange.attempt(() => this.#upgrade(response, upgraded, head), UpstreamFault.Malformed)
    })
    sent.on('response', (response) => this.#answer(response))
    sent.on('error', (error) => this.#fail(error))
    sent.end()
  }

  #upgrade(response: IncomingMessage, instance: Duplex, head: Buffer): void {
    if (this.#over || response.headers.upgrade?.toLowerCase() !== 'websocket') {
      instance.destroy()
      return this.#fail(new Error('bad upgrade'))
    }
    const { limits } = this.#exchange.parts
    const lowerCase = this.#client.connection.http2
    const fields = answerFields(response.rawHeaders, { status: 101, lowerCase })
    const client = this.#client.upgrade(lowerCase ? withoutAccept(fields) : fields)
    this.#request?.setTimeout(0)
    this.#exchange.switched(this.#client.upgradeStatus)
    this.#tunnel = new WebSocketTunnel({
      client,
      instance,
      closeMs: limits.webSocketCloseMs,
      onOver: () => this.#exchange.finish(),
      onMoved: () => {
        this.#exchange.client.connection.movedAtMs = performance.now()
      },
    })
    this.#tunnel.start()
    if ('setTimeout' in client && typeof client.setTimeout === 'function') {
      client.setTimeout(limits.webSocketIdleMs, () => this.#tunnel?.end())
    }
    if (head.length > 0) instance.unshift(head)
    if (this.#leaving) this.#tunnel.goAway()
  }

  /** Passes on the ordinary HTTP answer of an instance that refuses the WebSocket. */
  #answer(response: IncomingMessage): void {
    this.#response = response
    response.on('error', (error) => this.#fail(error))
    this.#exchange.answer(response.statusCode ?? 0, response.statusMessage ?? '', response.rawHeaders)
    response.on('data', (chunk: Buffer) => this.#exchange.data(chunk))
    response.on('end', () => {
      this.#over = true
      this.#exchange.end()
    })
  }

  #fail(error: Error): void {
    if (this.#over || this.#tunnel !== undefined) return
    this.#over = true
    this.#exchange.upstreamFailed(faultOf(error), error)
  }
}

function withoutAccept(fields: readonly string[]): string[] {
  return fields.filter((_, index) => fields[index - (index % 2)] !== 'sec-websocket-accept')
}
