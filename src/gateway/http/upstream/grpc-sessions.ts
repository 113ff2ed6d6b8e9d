import { connect } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'
import type { HttpLimits } from '../http-limits.ts'
import { connectUpstream } from './upstream-address.ts'
import type { UpstreamAddress } from './upstream-address.ts'

type SessionResult = ClientHttp2Session | Error

/**
 * The largest number of streams over one connection. It also holds before the instance has said how many it
 * accepts at once.
 */
const presumedStreams = 100
/**
 * Passes on a field that the client sent twice as two fields. Node's types know this option for servers
 * alone.
 */
const fieldsAsTheyCome: object = { strictSingleValueFields: false }
/**
 * The largest number of connections to one port. A second one is made if the first does not accept enough
 * streams.
 */
const maxSessions = 64

/** HTTP/2 without TLS to one port of one boot, with prior knowledge: what gRPC servers listen for. */
export class GrpcSessions {
  readonly #address: UpstreamAddress
  readonly #limits: HttpLimits
  readonly #listens: () => boolean
  readonly #streams = new Map<ClientHttp2Session, number>()
  readonly #waiting: ((result: SessionResult) => void)[] = []
  #connecting = false
  #over = false

  constructor(options: {
    readonly address: UpstreamAddress
    readonly limits: HttpLimits
    readonly listens: () => boolean
  }) {
    this.#address = options.address
    this.#limits = options.limits
    this.#listens = options.listens
  }

  /**
   * Calls back with a session on which one more stream may be opened. The caller says by `release` that the
   * stream is over.
   */
  take(fresh: boolean, done: (result: SessionResult) => void): void {
    const session = this.#roomy()
    if (session !== undefined) return this.#give(session, done)
    this.#waiting.push(done)
    if (!this.#connecting) this.#connect(fresh)
  }

  release(session: ClientHttp2Session): void {
    const streams = this.#streams.get(session)
    if (streams === undefined) return
    this.#streams.set(session, streams - 1)
    if (this.#over && streams === 1) session.close()
  }

  close(): void {
    this.#over = true
    for (const [session, streams] of this.#streams) if (streams === 0) session.close()
  }

  #roomy(): ClientHttp2Session | undefined {
    for (const [session, streams] of this.#streams) {
      const most = Math.min(session.remoteSettings?.maxConcurrentStreams ?? presumedStreams, presumedStreams)
      if (!session.closed && !session.destroyed && streams < most) return session
    }
    return undefined
  }

  #give(session: ClientHttp2Session, done: (result: SessionResult) => void): void {
    this.#streams.set(session, (this.#streams.get(session) ?? 0) + 1)
    done(session)
  }

  #connect(fresh: boolean): void {
    if (this.#streams.size >= maxSessions) return this.#settle(new Error('too many connections'), fresh)
    this.#connecting = true
    const options = { fresh, listens: this.#listens(), limits: this.#limits }
    connectUpstream(this.#address, options, (result) => {
      this.#connecting = false
      if (result instanceof Error) return this.#settle(result, fresh)
      const session = connect(`http://${this.#address.host}:${this.#address.port}`, {
        createConnection: () => result,
        ...fieldsAsTheyCome,
        settings: { enablePush: false, initialWindowSize: this.#limits.streamWindowBytes },
      })
      this.#streams.set(session, 0)
      session.setLocalWindowSize(this.#limits.connectionWindowBytes)
      session.on('error', () => undefined)
      session.on('close', () => this.#streams.delete(session))
      session.on('goaway', () => session.close())
      session.setTimeout(this.#limits.upstreamIdleMs, () => {
        if ((this.#streams.get(session) ?? 0) === 0) session.close()
      })
      this.#settle(session, fresh)
    })
  }

  #settle(result: SessionResult, fresh: boolean): void {
    for (const done of this.#waiting.splice(0)) {
      if (result instanceof Error) done(result)
      else this.take(fresh, done)
    }
  }
}
