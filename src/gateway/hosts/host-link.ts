import { request as plainRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import {
  HostSilence,
  heardNow,
  missed,
  nextTrouble,
  reached,
  refused,
  silenceOf,
} from '../../domain/host/silence.ts'
import type { HostSigns, HostTrouble } from '../../domain/host/silence.ts'
import { agentName } from '../../domain/part-name.ts'
import { toldProtocol, wires } from '../../domain/protocols.ts'
import type { RouteNode } from '../../domain/service/route-feed.ts'
import {
  beatIntervalMs,
  leaseKeptMs,
  maxTrafficLineBytes,
  trafficUpgrade,
} from '../../domain/standby/lease-protocol.ts'
import type { GatewayMessage, HostMessage } from '../../domain/standby/lease-protocol.ts'
import { JsonLineReader, jsonLine } from '../../primitives/json-lines.ts'
import { refusalText } from '../../primitives/refusal-text.ts'
import { clientTls } from '../../trust/part-identity.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import { hostMessage } from './host-messages.ts'

export interface HostLinkEvents {
  /** The leases that are held, for the `hello` of each connection. */
  held(): Extract<GatewayMessage, { kind: 'hello' }>['held']
  /** The shares of hard limits, for the `hello` too. */
  shares(): NonNullable<Extract<GatewayMessage, { kind: 'hello' }>['shares']>
  hear(message: HostMessage): void
  lost(): void
  /** Called as the host's silence gets worse, one step at a time, until `back`. */
  fellSilent(how: HostTrouble): void
  back(): void
}

export interface HostLinkOptions {
  readonly node: RouteNode
  readonly gatewayId: string
  readonly events: HostLinkEvents
  readonly nowMs: () => number
  /** What the gateway shows to a host on another machine. */
  readonly identity?: () => PartIdentity | undefined
  /**
   * Called when the connection is lost or can not be made, but not again for the same cause; `why` holds no
   * credential.
   */
  readonly onProblem: (why: string) => void
  /** What the connection before this one saw of the host. */
  readonly signs?: HostSigns
}

/**
 * The waits before the next attempts to connect. The time since the loss after each: 0.05 s, 0.15 s, 0.35
 * s, 0.85 s, then every second. The waits are short because traffic misses a host at once.
 */
const delaysMs = [50, 100, 200, 500] as const
const longestDelayMs = 1_000
const connectMs = 3_000
/** The most bytes that a host may leave unread. A host that reads nothing any more is disconnected. */
const unreadMaxBytes = 8 << 20
/** The most characters of a refusal that are read. */
const refusalMaxCharacters = 4_096

/**
 * The connection to one host's agent, which is made again whenever it is lost. Messages that are sent while
 * there is no connection are dropped.
 */
export class HostLink {
  readonly node: RouteNode
  readonly #options: HostLinkOptions
  readonly #clock: NodeJS.Timeout
  #request: ClientRequest | undefined
  #socket: Duplex | undefined
  #retry: NodeJS.Timeout | undefined
  #welcomed = false
  /** The last silence that was reported to `events`. */
  #silence: HostSilence = HostSilence.None
  #failures = 0
  #toldWhy: string | undefined
  #signs: HostSigns
  #closed = false

  constructor(options: HostLinkOptions) {
    this.#options = options
    this.node = options.node
    this.#signs = options.signs ?? heardNow(options.nowMs())
    this.#clock = setInterval(() => this.#tick(), beatIntervalMs)
    this.#clock.unref()
    this.#connect()
  }

  get connected(): boolean {
    return this.#welcomed
  }

  get signs(): HostSigns {
    return this.#signs
  }

  /**
   * Sends from the `hello` on, even before the host answers it: a lease that is given back in between was
   * listed in the `hello` as held.
   */
  send(message: GatewayMessage): void {
    this.#write(message)
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#clock)
    clearTimeout(this.#retry)
    this.#request?.destroy()
    this.#socket?.destroy()
  }

  #connect(): void {
    if (this.#closed) return
    const { agentUrl, trafficSecret } = this.node
    const url = new URL(`${agentUrl.replace(/\/$/, '')}/traffic`)
    const isSecure = url.protocol === 'https:'
    const identity = isSecure ? this.#options.identity?.() : undefined
    const request = (isSecure ? secureRequest : plainRequest)(url, {
      ...(identity && { ...clientTls(identity), servername: agentName(this.node.id) }),
      agent: false,
      timeout: connectMs,
      headers: {
        Connection: 'Upgrade',
        Upgrade: trafficUpgrade,
        Authorization: `Bearer ${trafficSecret}`,
        ...toldProtocol(wires.leases),
      },
    })
    this.#request = request
    let isReached = false
    let isAnswered = false
    request.once('socket', (socket) => {
      socket.once('connect', () => {
        isReached = true
        this.#signs = reached(this.#signs, this.#options.nowMs())
      })
    })
    request.once('upgrade', (_answer, socket, head) => this.#upgraded(socket, head))
    request.once('response', (answer: IncomingMessage) => {
      isAnswered = true
      void whyRefused(answer).then((why) => {
        request.destroy()
        this.#again(why)
      })
    })
    request.once('timeout', () => request.destroy(new Error(`no answer within ${connectMs} ms`)))
    request.on('error', (error: NodeJS.ErrnoException) => {
      // A refusal that breaks off is followed by the next attempt, too, but not twice.
      if (isAnswered) return
      if (!isReached) this.#noteMissed(error)
      this.#again(error.message || (error.code ?? error.name))
    })
    request.end()
  }

  #noteMissed(error: Error): void {
    this.#signs = isRefusal(error) ? refused(this.#signs, this.#options.nowMs()) : missed(this.#signs)
  }

  #upgraded(socket: Duplex, head: Buffer): void {
    const reader = new JsonLineReader({ maxBytes: maxTrafficLineBytes })
    this.#socket = socket
    const plain = socket as Socket
    plain.setNoDelay(true)
    plain.setTimeout(0)
    const read = (chunk: Buffer): void => {
      try {
        for (const line of reader.push(chunk)) this.#hear(line)
      } catch (error) {
        socket.destroy(error as Error)
      }
    }
    let why = 'the host ended the connection'
    socket.on('error', (error) => {
      why = error.message
    })
    socket.once('end', () => socket.destroy())
    socket.once('close', () => {
      this.#socket = undefined
      if (this.#welcomed) {
        this.#welcomed = false
        if (!this.#closed) this.#options.events.lost()
      }
      this.#again(why)
    })
    socket.on('data', read)
    const { gatewayId, events } = this.#options
    this.#write({ kind: 'hello', gatewayId, held: events.held(), shares: events.shares() })
    if (head.length > 0) read(head)
  }

  #hear(line: object): void {
    if (this.#closed) return
    this.#signs = heardNow(this.#options.nowMs())
    const message = hostMessage(line)
    if (message === undefined || message.kind === 'beat') return this.#soundAgain()
    if (message.kind !== 'welcome') {
      this.#soundAgain()
      this.#options.events.hear(message)
      return
    }
    this.#welcomed = true
    this.#silence = HostSilence.None
    this.#failures = 0
    this.#toldWhy = undefined
    this.#options.events.back()
  }

  /**
   * Ends the silence of a host to which the connection was never lost. The host is asked for its leases
   * again.
   */
  #soundAgain(): void {
    if (this.#silence === HostSilence.None || !this.#welcomed) return
    this.#silence = HostSilence.None
    this.#options.events.back()
  }

  #tick(): void {
    const nowMs = this.#options.nowMs()
    this.send({ kind: 'beat' })
    const step = nextTrouble(this.#silence, silenceOf(this.#signs, nowMs))
    if (step !== undefined) {
      this.#silence = step
      this.#options.events.fellSilent(step)
    }
    // By then the host has also dropped the leases of this gateway.
    if (nowMs - this.#signs.heardMs >= leaseKeptMs) this.#socket?.destroy(new Error('the host is silent'))
  }

  #write(message: GatewayMessage): void {
    const socket = this.#socket
    if (socket === undefined || socket.destroyed) return
    socket.write(jsonLine(message))
    if (socket.writableLength > unreadMaxBytes) socket.destroy(new Error('the host reads nothing'))
  }

  #again(why: string): void {
    if (this.#closed) return
    if (why !== this.#toldWhy) this.#options.onProblem(why)
    this.#toldWhy = why
    const delayMs = delaysMs[this.#failures] ?? longestDelayMs
    this.#failures += 1
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => this.#connect(), delayMs)
    this.#retry.unref()
  }
}

/** A host that does not understand the gateway says why in a sentence. */
async function whyRefused(answer: IncomingMessage): Promise<string> {
  const status = `the host answered ${String(answer.statusCode)}`
  let body = ''
  try {
    for await (const chunk of answer.setEncoding('utf8')) {
      body += String(chunk)
      if (body.length > refusalMaxCharacters) break
    }
  } catch {
    return status
  }
  const why = refusalText(body)
  return why === undefined ? status : `${status}: ${why}`
}

/** Whether the machine refused the connection. Of a name with several addresses, all have to refuse. */
function isRefusal(error: Error): boolean {
  if (error instanceof AggregateError) return error.errors.every((each) => isRefusal(each as Error))
  return 'code' in error && error.code === 'ECONNREFUSED'
}
