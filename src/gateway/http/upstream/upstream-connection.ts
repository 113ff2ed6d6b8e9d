import type { OnReadOpts, Socket } from 'node:net'
import { AnswerReader } from './answer-reader.ts'
import type { AnswerHandler } from './answer-reader.ts'
import { copyBytes } from './lent-copies.ts'
import type { HttpLimits } from '../http-limits.ts'
import type { Sweep, Watched } from '../sweep.ts'
import { writeInTurn } from '../turn-writes.ts'
import { writeAndFree } from '../../write-and-free.ts'

/**
 * A request that uses a connection to an instance, until its answer is complete or the connection fails.
 */
export interface UpstreamRequest extends AnswerHandler {
  readonly method: string
  /** Called when bytes can be written. It may be called at once. */
  ready(): void
  /** Called when all that has arrived by now was read, and more of the answer follows. */
  flush(): void
  /** Called when the instance takes bytes again after `write` returned false. */
  drained(): void
  /** Called if the connection can not be made, or ends or breaks before the answer is complete. */
  failed(error: Error): void
  /** Called if the instance sends nothing for too long. */
  silent(): void
}

export interface UpstreamConnectionOptions {
  /** Connects, and calls `done` once. Returns a function that ends the attempts. */
  readonly connect: (onRead: OnReadOpts, done: (result: Socket | Error) => void) => () => void
  readonly limits: HttpLimits
  readonly sweep: Sweep
  /** Called when the connection, while idle, ended or was idle for too long. */
  readonly onIdleEnd: (connection: UpstreamConnection) => void
}

/**
 * How much earlier than the instance an idle connection is closed, so that no request is sent over a
 * connection that the instance is closing.
 */
const closedEarlierMs = 1_000

/**
 * Where the bytes of all instances arrive. They are read at once, and what is kept of them is copied. A
 * buffer for each arrival would cost more than the rest of the reading.
 */
const arrivals = Buffer.allocUnsafeSlow(copyBytes)

/** One HTTP/1.1 connection to an instance, for one request at a time. */
export class UpstreamConnection implements Watched {
  /** Whether it has carried a request before. If so, the instance may be closing it at this moment. */
  used = false
  watching: Watched['watching']
  limitMs = Infinity
  movedAtMs = 0
  readonly #options: UpstreamConnectionOptions
  readonly #reader: AnswerReader
  readonly #giveUp: () => void
  #socket: Socket | undefined
  #request: UpstreamRequest | undefined
  #destroyed = false

  constructor(options: UpstreamConnectionOptions) {
    this.#options = options
    this.#reader = new AnswerReader(options.limits.maxResponseHeaderBytes)
    this.#giveUp = options.connect({ buffer: arrivals, callback: this.#onRead }, (result) =>
      this.#connected(result),
    )
  }

  /** Whether the complete answer leaves the connection fit for another request. */
  get reusable(): boolean {
    return !this.#destroyed && this.#reader.reusable && this.#idleLimitMs > 0
  }

  /** Whether the connection has been idle for so long that the instance may be closing it. */
  get isStale(): boolean {
    return performance.now() - this.movedAtMs >= this.limitMs
  }

  begin(request: UpstreamRequest): void {
    this.#request = request
    this.limitMs = Infinity
    if (this.#socket !== undefined) request.ready()
  }

  /** Sends the head of the request. The answer is awaited from now on. */
  send(head: string): void {
    const request = this.#request
    if (request === undefined) return
    this.movedAtMs = this.#options.sweep.nextLookMs
    this.limitMs = this.#options.limits.responseHeaderMs
    this.#reader.begin(request, { toHead: request.method === 'HEAD' })
    if (this.#socket !== undefined) writeInTurn(this.#socket, head)
  }

  /**
   * Sends a piece of the request's body, and frees its memory. Returns false if the caller has to wait for
   * `drained`.
   */
  write(chunk: Buffer): boolean {
    this.movedAtMs = this.#options.sweep.nextLookMs
    return this.#socket === undefined || writeAndFree(this.#socket, chunk)
  }

  /** Reads nothing more for now. The instance is not to blame for the pause, so it is not watched. */
  pause(): void {
    this.limitMs = Infinity
    this.#socket?.pause()
  }

  resume(): void {
    this.movedAtMs = this.#options.sweep.nextLookMs
    this.limitMs = this.#options.limits.responseIdleMs
    this.#socket?.resume()
  }

  /** Called by the pool: no request uses the connection now. */
  rest(): void {
    this.#request = undefined
    this.used = true
    // The last piece of the answer may have been more than its client took at once.
    this.#socket?.resume()
    this.movedAtMs = performance.now()
    this.limitMs = this.#idleLimitMs
  }

  destroy(): void {
    if (this.#destroyed) return
    this.#destroyed = true
    this.#request = undefined
    this.#reader.stop()
    this.#options.sweep.unwatch(this)
    this.#giveUp()
    this.#socket?.destroy()
  }

  /** The sweep found that nothing has moved for `limitMs`. */
  stuck(): void {
    const request = this.#request
    if (request === undefined) this.#options.onIdleEnd(this)
    else request.silent()
  }

  get #idleLimitMs(): number {
    return Math.min(this.#options.limits.upstreamIdleMs, this.#reader.keptIdleMs - closedEarlierMs)
  }

  #connected(result: Socket | Error): void {
    if (result instanceof Error) {
      this.#fail(result)
      return
    }
    this.#socket = result
    result.resume()
    result.on('end', () => this.#ended())
    result.on('error', (error) => this.#fail(error))
    result.on('close', () => this.#ended())
    result.on('drain', () => this.#request?.drained())
    this.#options.sweep.watch(this)
    this.#request?.ready()
  }

  readonly #onRead = (count: number): boolean => {
    this.#read(arrivals.subarray(0, count))
    return true
  }

  #read(chunk: Buffer): void {
    if (this.#request === undefined) {
      // Bytes that nobody asked for.
      this.#options.onIdleEnd(this)
      return
    }
    this.movedAtMs = this.#options.sweep.nextLookMs
    this.limitMs = this.#options.limits.responseIdleMs
    try {
      this.#reader.read(chunk)
      this.#request?.flush()
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error('the answer can not be read'))
    }
  }

  #ended(): void {
    if (this.#destroyed || this.#reader.end()) return
    this.#fail(new Error('the instance closed the connection'))
  }

  #fail(error: Error): void {
    if (this.#destroyed) return
    const request = this.#request
    if (request === undefined) this.#options.onIdleEnd(this)
    else request.failed(error)
  }
}
