import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { isBesideId } from '../../domain/part-name.ts'
import type { ToldMesh } from '../../domain/host/mesh.ts'
import { protocolHeader, versionRefusal, wires } from '../../domain/protocols.ts'
import { maxGateways } from '../../domain/standby/host-lease-gateways.ts'
import {
  beatIntervalMs,
  leaseKeptMs,
  maxTrafficLineBytes,
  trafficSecretContext,
  trafficUpgrade,
} from '../../domain/standby/lease-protocol.ts'
import type { GatewayMessage, HostMessage } from '../../domain/standby/lease-protocol.ts'
import { jsonLine, JsonLineReader, LineError } from '../../primitives/json-lines.ts'
import { atPlace } from '../../primitives/traces.ts'
import { peerOf } from '../../trust/part-identity.ts'
import { isCaller } from '../agent/agent-callers.ts'
import type { AgentLog } from '../agent/agent-ports.ts'
import { gatewayMessage, leaseEvent, MessageError } from './gateway-messages.ts'
import type { HostLeases, GatewayLine } from './host-leases.ts'

/** The most bytes that a gateway may leave unread. If there are more, its connection is closed. */
const unreadMaxBytes = 8 << 20

export interface LeaseServerOptions {
  readonly agentSecret: string
  readonly nodeId: string
  readonly leases: HostLeases
  readonly log: AgentLog
  readonly nowMs: () => number
}

/**
 * The secret with which gateways identify themselves. With it they can ask for leases, but can not act as a
 * host.
 */
export function trafficSecretOf(agentSecret: string): string {
  return createHmac('sha256', agentSecret).update(trafficSecretContext).digest('base64url')
}

/** Who is at the other end of a line. */
interface Origin {
  /** What its certificate calls the gateway. Undefined without TLS. */
  readonly name: string | undefined
  /** The address in the mesh from which it came. Undefined if it did not come over the mesh. */
  readonly meshAddress: string | undefined
}

/** The status line of a refusal, and why in a sentence if the status does not say it. */
interface Refusal {
  readonly status: string
  readonly message?: string
}

interface Elsewhere {
  readonly hosts: ReadonlySet<string>
  readonly addresses: ReadonlySet<string>
}

/**
 * The server of `GET /traffic` (`src/domain/standby/lease-protocol.ts`). It accepts gateways, and keeps a
 * gateway's connection for as long as the gateway sends something.
 */
export class LeaseServer {
  readonly #options: LeaseServerOptions
  readonly #wanted: Buffer
  readonly #lines = new Set<TrafficLine>()
  readonly #beat: NodeJS.Timeout
  /** Gateways of other machines: the hosts that joined with one, and their addresses in the mesh. */
  #elsewhere: Elsewhere = { hosts: new Set(), addresses: new Set() }

  constructor(options: LeaseServerOptions) {
    this.#options = options
    this.#wanted = digest(`Bearer ${trafficSecretOf(options.agentSecret)}`)
    this.#beat = setInterval(() => {
      for (const line of this.#lines) line.beat()
    }, beatIntervalMs)
    this.#beat.unref()
  }

  /** Handles the `upgrade` event of a server. `meshAddress` says who asks, if it is over the mesh. */
  receive(request: IncomingMessage, socket: Duplex, head: Buffer, meshAddress?: string): void {
    const origin = { name: gatewayName(request), meshAddress }
    // An error of a connection that the peer closes needs no handling, because `close` follows.
    socket.on('error', () => undefined)
    const refusal = this.#refusalOf(request, origin)
    if (refusal !== undefined) {
      const { status, message } = refusal
      const body = message === undefined ? '' : JSON.stringify({ message })
      const length = `Content-Length: ${String(Buffer.byteLength(body))}`
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n${length}\r\n\r\n${body}`)
      return
    }
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${trafficUpgrade}\r\n\r\n`,
    )
    const line = new TrafficLine(this.#options, socket, origin)
    this.#lines.add(line)
    socket.once('close', () => {
      this.#lines.delete(line)
    })
    line.open(head)
  }

  /**
   * From now on only these gateways of other machines may ask for leases. Others are cut off, and their
   * leases end at once: the mesh, by which they reach instances, does not have them any more either.
   */
  admitElsewhere(told: Pick<ToldMesh, 'gateways' | 'gatewayHosts'>): void {
    this.#elsewhere = { hosts: new Set(told.gatewayHosts ?? []), addresses: new Set(told.gateways) }
    for (const line of this.#lines) if (!this.#admits(line.origin)) line.cut()
  }

  /** Gateways beside the API are not told: they have no host that joined, or come over the loopback. */
  #admits({ name, meshAddress }: Origin): boolean {
    const { hosts, addresses } = this.#elsewhere
    if (meshAddress !== undefined) return addresses.has(meshAddress)
    return name === undefined || isBesideId(name) || hosts.has(name)
  }

  close(): void {
    clearInterval(this.#beat)
    for (const line of this.#lines) line.end()
  }

  #refusalOf(request: IncomingMessage, origin: Origin): Refusal | undefined {
    const { url, method, headers } = request
    if (!isCaller(request, 'traffic') || !this.#admits(origin)) return { status: '403 Forbidden' }
    if (method !== 'GET' || url !== '/traffic') return { status: '404 Not Found' }
    if (headers.upgrade?.toLowerCase() !== trafficUpgrade) return { status: '426 Upgrade Required' }
    if (!timingSafeEqual(digest(headers.authorization ?? ''), this.#wanted))
      return { status: '401 Unauthorized' }
    const own = `the agent of host '${this.#options.nodeId}'`
    const told = headers[protocolHeader]?.toString()
    const message = versionRefusal(wires.leases, told, { peer: 'the gateway', own })
    if (message !== undefined) return { status: '426 Upgrade Required', message }
    return this.#lines.size < maxGateways ? undefined : { status: '503 Service Unavailable' }
  }
}

/**
 * A digest of a text. All digests have the same length, so their comparison reveals nothing of the secret.
 */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** How the connection of a process that has ended fails, if something was still to be read or written. */
const resets: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE'])

/** What the certificate behind a request calls the gateway. Undefined without TLS. */
function gatewayName({ socket }: IncomingMessage): string | undefined {
  return socket instanceof TLSSocket ? peerOf(socket)?.id : undefined
}

class TrafficLine implements GatewayLine {
  readonly origin: Origin
  readonly #options: LeaseServerOptions
  readonly #socket: Duplex
  readonly #reader = new JsonLineReader({ maxBytes: maxTrafficLineBytes })
  #gatewayId = ''
  #lastWordMs: number
  /** Whether the gateway's machine has closed the connection. */
  #closed = false
  /** The last message that is still being prepared. Later messages wait for it. */
  #pending: Promise<void> | undefined

  constructor(options: LeaseServerOptions, socket: Duplex, origin: Origin) {
    this.origin = origin
    this.#options = options
    this.#socket = socket
    this.#lastWordMs = options.nowMs()
  }

  get gatewayId(): string {
    return this.#gatewayId
  }

  open(head: Buffer): void {
    if ('setNoDelay' in this.#socket && typeof this.#socket.setNoDelay === 'function') {
      this.#socket.setNoDelay(true)
    }
    this.#socket.on('data', (chunk: Buffer) => {
      this.#read(chunk)
    })
    this.#socket.once('end', () => {
      this.#closed = true
      this.end()
    })
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#closed ||= resets.has(error.code)
    })
    this.#socket.once('close', () => {
      if (this.#gatewayId !== '') this.#options.leases.disconnect(this, this.#lastWordMs, this.#closed)
    })
    if (head.length > 0) this.#read(head)
  }

  /**
   * Sends a beat. If the gateway was silent for as long as its leases are kept, ends the connection instead.
   */
  beat(): void {
    if (this.#options.nowMs() - this.#lastWordMs >= leaseKeptMs) this.end()
    else this.send({ kind: 'beat' })
  }

  send(message: HostMessage | Promise<HostMessage>): void {
    if (this.#pending === undefined && !(message instanceof Promise)) {
      this.#write(message)
      return
    }
    const mine = Promise.all([message, this.#pending]).then(
      ([ready]) => {
        this.#write(ready)
      },
      (error: unknown) => {
        this.#options.log.error({ gateway: this.#gatewayId, err: error }, 'a gateway could not be answered')
        this.end()
      },
    )
    this.#pending = mine
    void mine.then(() => {
      if (this.#pending === mine) this.#pending = undefined
    })
  }

  end(): void {
    this.#socket.destroy()
  }

  /** Ends the line of a gateway that can not reach instances any more. */
  cut(): void {
    this.#options.leases.leave(this)
    this.end()
  }

  #write(message: HostMessage): void {
    if (this.#socket.destroyed) return
    this.#socket.write(jsonLine(message))
    if (this.#socket.writableLength > unreadMaxBytes) this.end()
  }

  #read(chunk: Buffer): void {
    this.#lastWordMs = this.#options.nowMs()
    try {
      for (const line of this.#reader.push(chunk)) {
        const message = gatewayMessage(line)
        if (message !== undefined) this.#hear(message)
      }
    } catch (error) {
      if (!(error instanceof LineError || error instanceof MessageError)) throw error
      this.#options.log.warn(
        { gateway: this.#gatewayId, err: error },
        'a gateway does not keep to the protocol',
      )
      this.end()
    }
  }

  #hear(message: GatewayMessage): void {
    const { leases, nodeId } = this.#options
    if (message.kind === 'hello') {
      if (this.#gatewayId !== '') throw new MessageError('a second hello')
      this.#gatewayId = message.gatewayId
      this.send({ kind: 'welcome', nodeId })
      leases.connect(this, message.held, message.shares)
      return
    }
    const gateway = this.#gatewayId
    if (gateway === '') throw new MessageError('the first line must be a hello')
    if (message.kind === 'load') leases.noteLoads(gateway, message.loads)
    else if (message.kind === 'counts') leases.noteCounts(gateway, message.counts)
    else if (message.kind === 'reported') leases.noteReported(this, message.number)
    else if (message.kind !== 'beat') {
      const traceparent = message.kind === 'open' ? message.traceparent : undefined
      atPlace(traceparent, () => leases.hear(this, message.instance, leaseEvent(message, gateway)))
    }
  }
}
