import { connect } from 'node:net'
import type { OnReadOpts, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import type { HttpLimits } from '../http-limits.ts'

/** Returns how to encrypt the next connection. It throws nothing: what is missing fails the handshake. */
export type SecureUpstream = () => ConnectionOptions

export interface UpstreamAddress {
  readonly host: string
  readonly port: number
  readonly secure?: SecureUpstream
}

export interface ConnectOptions {
  /**
   * Whether the instance had just been started. Its first answers may be late, so it gets the longer time.
   */
  readonly fresh: boolean
  /**
   * Whether the instance is known to listen. If it is not known of a fresh one, attempts are repeated: its
   * port may not listen yet.
   */
  readonly listens?: boolean
  /** How much of its time the connection has waited already. */
  readonly waitedMs?: number | undefined
  readonly limits: HttpLimits
  /** Reads what arrives, in place of the events of the socket. */
  readonly onRead?: OnReadOpts | undefined
}

export class ConnectTimeout extends Error {
  override readonly name = 'ConnectTimeout'
}

/**
 * The pause between a refused connection and the next attempt is an eighth (1 / `refusedShare`) of the time
 * since the first attempt, within the bounds below. So at most an eighth of the wait is lost. More attempts
 * would only take time from a guest that is starting.
 */
const refusedShare = 8
const refusedPauseMinMs = 4
const refusedPauseMaxMs = 100
/**
 * The pause before a further attempt while nothing is answered. The kernel repeats a lost SYN only after a
 * second, so another attempt is quicker. A lost SYN is rare, as the VM has its device before the gateway
 * hears that it runs. A guest that was just woken is slow, and each attempt is work for it before its first
 * answer.
 */
const silentPauseMs = 200
const maxAttemptsUnderWay = 8
/**
 * From this attempt on the pause is longer. The kernel repeats each SYN after 1, 3 and 7 s. So there is one
 * in each of the 10 s of a fresh boot: an instance that has just moved may have no route yet.
 */
const longerFromAttempt = 5
const longerPauseMs = 1_000

/**
 * Connects to an instance, and calls `done` exactly once. Returns a function that ends the attempts; after
 * it, `done` is not called.
 */
export function connectUpstream(
  address: UpstreamAddress,
  options: ConnectOptions,
  done: (result: Socket | Error) => void,
): () => void {
  const connecting = new Connecting(address, options, done)
  return () => connecting.end()
}

class Connecting {
  readonly #address: UpstreamAddress
  readonly #repeats: boolean
  readonly #onRead: OnReadOpts | undefined
  readonly #done: (result: Socket | Error) => void
  readonly #limit: NodeJS.Timeout
  readonly #underWay = new Set<Socket>()
  readonly #startedAtMs = performance.now()
  #next: NodeJS.Timeout | undefined
  #over = false

  constructor(address: UpstreamAddress, options: ConnectOptions, done: (result: Socket | Error) => void) {
    this.#address = address
    this.#repeats = options.fresh && options.listens !== true
    this.#onRead = options.onRead
    this.#done = done
    const { limits, waitedMs = 0 } = options
    const limitMs = Math.max(1, (options.fresh ? limits.freshConnectMs : limits.connectMs) - waitedMs)
    this.#limit = setTimeout(() => this.#finish(new ConnectTimeout('the port did not accept')), limitMs)
    this.#attempt()
  }

  end(): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#limit)
    clearTimeout(this.#next)
    for (const socket of this.#underWay) socket.destroy()
  }

  #finish(result: Socket | Error): void {
    if (this.#over) return
    if (!(result instanceof Error)) this.#underWay.delete(result)
    this.end()
    this.#done(result)
  }

  #attempt(): void {
    const { host, port, secure } = this.#address
    const place = { host, port, noDelay: true, ...(this.#onRead && { onread: this.#onRead }) }
    const socket = secure === undefined ? connect(place) : connectTls({ ...secure(), ...place })
    // A connection with TLS does not take this as an option.
    if (secure !== undefined) socket.setNoDelay(true)
    this.#underWay.add(socket)
    socket.once(secure === undefined ? 'connect' : 'secureConnect', () => {
      socket.removeAllListeners('error')
      this.#finish(socket)
    })
    socket.on('error', (error) => {
      this.#underWay.delete(socket)
      if (this.#repeats) this.#refused()
      else this.#finish(error)
    })
    if (this.#repeats) {
      this.#attemptAfter(this.#underWay.size < longerFromAttempt ? silentPauseMs : longerPauseMs)
    }
  }

  #refused(): void {
    const share = (performance.now() - this.#startedAtMs) / refusedShare
    this.#attemptAfter(Math.min(refusedPauseMaxMs, Math.max(refusedPauseMinMs, share)))
  }

  #attemptAfter(pauseMs: number): void {
    if (this.#over) return
    clearTimeout(this.#next)
    this.#next = setTimeout(() => {
      if (this.#underWay.size < maxAttemptsUnderWay) this.#attempt()
      else this.#attemptAfter(pauseMs)
    }, pauseMs)
  }
}
