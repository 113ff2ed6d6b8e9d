import { createSocket } from 'node:dgram'
import type { Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { judgeQuestion, maxQuestionBytes, refusal } from './dns-answers.ts'
import type { DnsForwarder } from './dns-forwarder.ts'
import { YieldingSlots } from './yielding-slots.ts'
import type { SlotHolder } from './yielding-slots.ts'
import { LengthFramedReader, lengthFramed } from './length-frames.ts'
import type { PrivateNames } from './private-names.ts'
import { TokenBuckets } from '../../domain/token-bucket.ts'

/**
 * The most questions of one instance per second. An answer costs the agent about 20 us, so one instance
 * takes at most 4 % of a core, whatever it sends.
 */
const questionsPerS = 2_000
const questionsBurst = 4_000
/**
 * The most connections. Each takes a socket. Users share the connections in the same way as the forwarder's
 * pending questions.
 */
const maxConnections = 512
const maxConnectionsPerAsker = 8
/**
 * The most open sockets. It is higher than the most connections, because a connection that is refused, or
 * gave way, stays open for a moment.
 */
const maxOpenConnections = 2 * maxConnections
const connectionIdleMs = 10_000
/** The most questions of one connection that wait for the host's nameserver. */
const maxPendingPerConnection = 16
/**
 * The most bytes of answers that a client may leave unread. If there are more, the connection is closed.
 */
const unreadMaxBytes = 128 * 1024
const receiveBufferBytes = 1 << 20
/** How often the system is asked for a port that is free for TCP, until it is free for UDP as well. */
const mostChoices = 10

export interface DnsServerOptions {
  readonly address: string
  readonly port?: number
  readonly names: PrivateNames
  /** Returns the user whose instance has this address. An address without an owner gets no answer. */
  readonly ownerOf: (ip: string) => string | undefined
  /** Forwards questions for names that are not private ones. Without it such questions are refused. */
  readonly forwarder?: DnsForwarder
  readonly nowMs?: () => number
}

/**
 * The nameserver of a host's instances. It knows who asks by the source address, which the host's filter
 * binds to a VM. Each instance sees the names of its own user. The server keeps nothing on disk, and waits
 * for nobody but the nameserver to which it forwards.
 */
export class DnsServer {
  readonly #options: DnsServerOptions
  readonly #buckets = new TokenBuckets({ perSecond: questionsPerS, burst: questionsBurst })
  readonly #slots = new YieldingSlots({ total: maxConnections, perInstance: maxConnectionsPerAsker })
  readonly #connections = new Set<Socket>()
  readonly #nowMs: () => number
  #udp: UdpSocket | undefined
  #tcp: Server | undefined

  constructor(options: DnsServerOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
  }

  /** Listens and returns the port. Fails if the port is taken. */
  async open(): Promise<number> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#listen()
      } catch (error) {
        await this.close()
        const isChosen = this.#options.port === 0 && (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
        if (!isChosen || tries === mostChoices) throw error
      }
    }
  }

  async #listen(): Promise<number> {
    const { address } = this.#options
    const tcp = createServer({ noDelay: true }, (socket) => this.#accept(socket))
    tcp.maxConnections = maxOpenConnections
    this.#tcp = tcp
    // With port 0 the system chooses among the ports that are free for TCP, where many are taken for a
    // while. Few are ever taken for UDP, so the same number is free there as a rule.
    tcp.listen({ host: address, port: this.#options.port ?? 53, exclusive: true })
    await once(tcp, 'listening')
    tcp.on('error', () => undefined)
    const { port } = tcp.address() as AddressInfo
    const udp = createSocket({ type: 'udp4', recvBufferSize: receiveBufferBytes })
    udp.on('message', (message, from) => this.#hearDatagram(udp, message, from))
    this.#udp = udp
    udp.bind({ address, port, exclusive: true })
    await once(udp, 'listening')
    // An error that a client can cause, such as by refusing an answer, must not end the agent.
    udp.on('error', () => undefined)
    return port
  }

  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (this.#tcp?.listening === true) this.#tcp.close(() => resolve())
    else resolve()
    for (const socket of this.#connections) socket.destroy()
    this.#udp?.close()
    this.#udp = undefined
    await promise
  }

  #hearDatagram(
    udp: UdpSocket,
    message: Buffer,
    from: { readonly address: string; readonly port: number },
  ): void {
    const userUuid = this.#admit(from.address)
    if (userUuid === undefined) return
    const send = (answer: Buffer): void => {
      if (this.#udp === udp) udp.send(answer, from.port, from.address, () => undefined)
    }
    this.#answer(message, { userUuid, ip: from.address, over: 'udp', send })
  }

  #accept(socket: Socket): void {
    socket.on('error', () => undefined)
    const ip = socket.remoteAddress
    const user = ip === undefined ? undefined : this.#options.ownerOf(ip)
    if (ip === undefined || user === undefined) {
      socket.destroy()
      return
    }
    const holder: SlotHolder = { user, ip, giveWay: () => socket.destroy() }
    if (!this.#slots.take(holder)) {
      socket.destroy()
      return
    }
    this.#connections.add(socket)
    socket.on('close', () => {
      this.#connections.delete(socket)
      this.#slots.release(holder)
    })
    socket.setTimeout(connectionIdleMs, () => socket.destroy())
    this.#serve(socket, ip)
  }

  #serve(socket: Socket, ip: string): void {
    const frames = new LengthFramedReader({ maxBytes: maxQuestionBytes })
    let pending = 0
    const send = (answer: Buffer): void => {
      pending -= 1
      if (socket.destroyed) return
      socket.write(lengthFramed(answer))
      if (socket.writableLength > unreadMaxBytes) socket.destroy()
      else if (pending < maxPendingPerConnection) socket.resume()
    }
    const hear = (question: Buffer): boolean => {
      const userUuid = this.#admit(ip)
      if (userUuid === undefined) return false
      pending += 1
      return this.#answer(question, { userUuid, ip, over: 'tcp', send })
    }
    socket.on('data', (chunk) => {
      const questions = frames.push(chunk)
      if (questions?.every(hear) !== true) socket.destroy()
      else if (pending >= maxPendingPerConnection) socket.pause()
    })
  }

  /** Returns the user of the instance at `ip`, or undefined if the instance may not ask now. */
  #admit(ip: string): string | undefined {
    const userUuid = this.#options.ownerOf(ip)
    if (userUuid === undefined) return undefined
    return this.#buckets.take(ip, this.#nowMs()) ? userUuid : undefined
  }

  /**
   * Returns false if the message is not a question. Otherwise it calls `send` exactly once, now or later.
   */
  #answer(
    message: Buffer,
    asker: {
      readonly userUuid: string
      readonly ip: string
      readonly over: 'udp' | 'tcp'
      readonly send: (answer: Buffer) => void
    },
  ): boolean {
    const { userUuid, ip, over, send } = asker
    const verdict = judgeQuestion(message, { names: this.#options.names, userUuid, ip })
    if (verdict.kind === 'drop') return false
    if (verdict.kind === 'answer') {
      send(verdict.message)
      return true
    }
    const { forwarder } = this.#options
    if (forwarder === undefined) {
      send(refusal(message, 'refused'))
      return true
    }
    // `message` stays unchanged while the forwarder works: a datagram has a buffer of its own, and a frame
    // is part of a chunk that is not written to again.
    void forwarder
      .ask(message, { user: userUuid, ip, over })
      .then((answer) => send(answer ?? refusal(message, 'servFail')))
    return true
  }
}
