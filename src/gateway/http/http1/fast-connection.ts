import type { Socket } from 'node:net'
import type { ClientConnection } from '../client-connection.ts'
import { Exchange } from '../exchange.ts'
import { FastBody } from './fast-body.ts'
import { FastSide } from './fast-side.ts'
import type { FrontParts } from '../front-parts.ts'
import { forwardPlain } from '../forward/plain-forward.ts'
import { readCertainHead } from './request-reader.ts'
import type { CertainHead } from './request-reader.ts'
import type { Watched } from '../sweep.ts'

/** The most pieces in which the fast road takes a head. So what a slow head costs is bounded. */
const maxPieces = 8

export interface FastConnectionOptions {
  readonly socket: Socket
  readonly connection: ClientConnection
  readonly parts: FrontParts
  /** Whether the front closes, so that every answer is the last of its connection. */
  readonly isClosing: () => boolean
  /** Called when the connection goes on on the full road, which reads `bytes` first. */
  readonly handOver: (bytes: Buffer) => void
  /** Called when the head of a request did not arrive in time. */
  readonly onLateHead: () => void
}

/**
 * A connection of HTTP/1.1 on the fast road. It reads one request after the other: what a client sends
 * before the answer waits.
 */
export class FastConnection implements Watched {
  watching: Watched['watching']
  movedAtMs = performance.now()
  limitMs: number
  readonly #options: FastConnectionOptions
  #side: FastSide | undefined
  #body: FastBody | undefined
  /** Bytes that are not read yet: of an incomplete head, or sent before the answer. */
  #rest: Buffer | undefined
  #pieces = 0
  /** Whether the client has to take more of its answer before the next request is read. */
  #waitsForClient = false
  #over = false
  /** Ends a connection whose client still sends a body that nobody wants. */
  #lingering: NodeJS.Timeout | undefined

  constructor(options: FastConnectionOptions) {
    this.#options = options
    this.limitMs = options.parts.limits.headerMs
    const { socket } = options
    socket.on('data', this.#take)
    socket.on('error', this.#fail)
    options.parts.sweep.watch(this)
  }

  get isIdle(): boolean {
    return this.#side === undefined
  }

  /** Reads nothing more: the connection has closed, or goes on elsewhere. */
  leave(): void {
    this.#over = true
    clearTimeout(this.#lingering)
    const { socket, parts } = this.#options
    parts.sweep.unwatch(this)
    socket.off('data', this.#take)
    socket.off('error', this.#fail)
  }

  /** The sweep found that for `limitMs` no head has come, or that the client took nothing of its answer. */
  stuck(): void {
    const { socket, connection, onLateHead } = this.#options
    if (this.#waitsForClient) socket.destroy()
    else if (this.#rest !== undefined || connection.requests === 0) onLateHead()
    else this.#endSoon()
  }

  /** Ends the connection. What its client has not taken yet may go on as long as some of it moves. */
  #endSoon(): void {
    const { socket, parts } = this.#options
    socket.setTimeout(parts.limits.clientStallMs, () => socket.destroy())
    socket.destroySoon()
  }

  readonly #fail = (): void => {
    this.#options.socket.destroy()
  }

  readonly #take = (chunk: Buffer): void => {
    const taken = this.#body?.accept(chunk) ?? 0
    if (this.#body?.isFull === true) this.#options.socket.pause()
    if (this.#lingering !== undefined) {
      if (this.#body?.left === 0) this.#endSoon()
    } else if (taken < chunk.length) {
      const more = taken === 0 ? chunk : chunk.subarray(taken)
      const bytes = this.#rest === undefined ? more : Buffer.concat([this.#rest, more])
      if (this.#side === undefined) this.#read(bytes)
      else this.#keep(bytes, this.#side)
    }
  }

  /** Keeps what was sent before the answer, and reads no more than a head of it. */
  #keep(bytes: Buffer, side: FastSide): void {
    const { socket, parts } = this.#options
    this.#rest = bytes
    side.aheadBytes = bytes.length
    if (bytes.length > parts.limits.maxHeaderBytes) socket.pause()
  }

  #read(bytes: Buffer): void {
    this.#rest = undefined
    const found = readCertainHead(bytes, this.#options.parts.limits)
    if (found === 'uncertain') return this.#handOver(bytes)
    if (found !== 'incomplete') return this.#serve(found, bytes)
    if (this.#pieces === 0) {
      this.movedAtMs = performance.now()
      this.limitMs = this.#options.parts.limits.headerMs
    }
    this.#pieces += 1
    if (this.#pieces > maxPieces) this.#handOver(bytes)
    else this.#rest = bytes
  }

  #handOver(bytes: Buffer): void {
    this.leave()
    this.#options.handOver(bytes)
  }

  #serve({ head, keepsAlive, end }: CertainHead, bytes: Buffer): void {
    const { socket, connection, parts, isClosing } = this.#options
    const { limits } = parts
    this.#pieces = 0
    this.limitMs = Infinity
    connection.requests += 1
    const length = head.bodyBytes ?? 0
    if (length > 0) this.#body = new FastBody(length, this.#resume)
    const isLast = isClosing() || connection.requests >= limits.maxRequestsPerConnection
    const side = new FastSide({
      socket,
      connection,
      body: this.#body,
      isHead: head.method === 'HEAD',
      keepsAlive: keepsAlive && !isLast,
      keepAliveMs: limits.keepAliveMs,
      onEnd: this.#answered,
    })
    this.#side = side
    if (end < bytes.length) this.#take(bytes.subarray(end))
    new Exchange(parts, side, head.method).run(head, forwardPlain)
  }

  readonly #resume = (): void => {
    this.#options.socket.resume()
  }

  readonly #answered = (keepsAlive: boolean): void => {
    const body = this.#body
    this.#side = undefined
    if (!keepsAlive) return this.#end(body)
    this.#body = undefined
    const { socket, parts } = this.#options
    this.movedAtMs = parts.sweep.nextLookMs
    if (!socket.writableNeedDrain) return this.#goOn()
    // A client that sends requests and takes no answers would have the gateway hold them all.
    this.#waitsForClient = true
    this.limitMs = parts.limits.clientStallMs
    socket.pause()
    socket.once('drain', this.#goOn)
  }

  /** Waits for the next request. */
  readonly #goOn = (): void => {
    if (this.#over) return
    const { socket, parts } = this.#options
    this.#waitsForClient = false
    this.movedAtMs = parts.sweep.nextLookMs
    this.limitMs = parts.limits.keepAliveMs
    // The socket was paused if the body waited for its instance, or if much was sent ahead.
    if (socket.isPaused()) socket.resume()
    if (this.#rest !== undefined) process.nextTick(this.#readRest)
  }

  readonly #readRest = (): void => {
    if (this.#rest !== undefined && this.#side === undefined && !this.#over) this.#read(this.#rest)
  }

  /**
   * Ends the connection after its last answer. While the client still sends a body, that is read and dropped
   * for a while: closing at once would reset the connection, perhaps before the client has read the answer.
   */
  #end(body: FastBody | undefined): void {
    const { socket, parts } = this.#options
    if (body === undefined || body.left === 0) {
      this.leave()
      socket.on('error', () => socket.destroy())
      socket.resume()
      this.#endSoon()
      return
    }
    body.resume()
    this.#lingering = setTimeout(() => this.#endSoon(), parts.limits.lingerMs)
    socket.resume()
  }
}
