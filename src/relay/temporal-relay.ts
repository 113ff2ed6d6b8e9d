import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { protocolHeader, versionRefusal, wires } from '../domain/protocols.ts'
import { TokenBuckets } from '../domain/token-bucket.ts'
import { GrpcCode, statusFields, unavailable } from './grpc-status.ts'
import type { GrpcStatus } from './grpc-status.ts'
import { HostShare } from './host-share.ts'
import { answerWithoutMessage, RelayedCall } from './relayed-call.ts'
import { TaskTokens } from './task-token.ts'
import type { TaskOwner } from './task-token.ts'
import { TemporalSession } from './temporal-session.ts'
import type { RelayedTemporal } from './temporal-session.ts'

/** How long calls that Temporal has may take to finish when the relay is closed. */
const closeGraceMs = 2_000
/** How long the connection of a host that calls no more is kept, and how often such hosts are looked for. */
const idleMs = 60_000
/** How many refusals of one host are logged, so that a hostile host can not fill the disk. */
const loggedRefusals = { perSecond: 1, burst: 20 }
/** The longest part of a refused path that is logged. */
const loggedPathLength = 200

/**
 * Lets agents of hosts speak to Temporal, of which no host is trusted with more than its own work. It passes
 * the few methods that a worker of activities needs (`relayed-methods.ts`), for the host's own task queue,
 * and completions and heartbeats only of tasks that were given to the same host.
 */
export interface TemporalRelay {
  /**
   * Serves one stream of HTTP/2, whose head has arrived. The caller has made sure that the host with this id
   * and key sent it. The stream is that of the event `stream`, or of the request of the event `request`.
   * Every stream is answered or closed, also while Temporal can not be reached: the host is told then that
   * it should try again. Never throws.
   */
  handle(owner: TaskOwner, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void
  /**
   * Takes no more calls, ends those that wait for work, and lets the others finish for a short time. Resolves
   * once all are over and no connection to Temporal is left.
   */
  close(): Promise<void>
}

export interface TemporalRelayOptions {
  readonly temporal: RelayedTemporal & { readonly namespace: string }
  /** 32 secret bytes. Relays with the same key take tasks back that another one gave to the same host. */
  readonly tokenKey: Uint8Array
  readonly log: { warn(fields: object, message: string): void }
}

export function createTemporalRelay(options: TemporalRelayOptions): TemporalRelay {
  return new Relay(options)
}

/** What the relay has of one host that called lately. */
interface RelayedHost {
  readonly share: HostShare
  readonly session: TemporalSession
  lastCallMs: number
}

class Relay implements TemporalRelay {
  readonly #options: TemporalRelayOptions
  readonly #tokens: TaskTokens
  readonly #hosts = new Map<string, RelayedHost>()
  readonly #calls = new Set<RelayedCall>()
  readonly #logged = new TokenBuckets(loggedRefusals)
  readonly #idleSearch: NodeJS.Timeout
  /** Set once no more calls are taken. Called when the last call has ended. */
  #onceEmpty: (() => void) | undefined

  constructor(options: TemporalRelayOptions) {
    this.#options = options
    this.#tokens = new TaskTokens(options.tokenKey)
    this.#idleSearch = setInterval(() => this.#forgetIdle(), idleMs).unref()
  }

  handle(owner: TaskOwner, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const { hostId } = owner
    if (stream.destroyed || stream.closed) return
    const nowMs = performance.now()
    const host = this.#hostOf(hostId, nowMs)
    const refusal = this.#refusalOf(hostId, headers) ?? host.share.begin(nowMs)
    if (refusal !== undefined) {
      stream.on('error', () => undefined)
      this.#tell(hostId, refusal, headers)
      return answerWithoutMessage(stream, statusFields(refusal))
    }
    const call: RelayedCall = new RelayedCall({
      stream,
      scope: { host: owner, namespace: this.#options.temporal.namespace, tokens: this.#tokens },
      share: host.share,
      session: host.session,
      onRefused: (status) => this.#tell(hostId, status, headers),
      onEnd: () => {
        this.#calls.delete(call)
        if (this.#calls.size === 0) this.#onceEmpty?.()
      },
    })
    this.#calls.add(call)
    call.start(headers)
  }

  /** A host of a version that is not understood may go on once its side or this one was upgraded. */
  #refusalOf(hostId: string, headers: IncomingHttpHeaders): GrpcStatus | undefined {
    if (this.#onceEmpty !== undefined) return unavailable('This relay stops; connect to another one.')
    const told = headers[protocolHeader]?.toString()
    const refusal = versionRefusal(wires.relay, told, {
      peer: `host '${hostId}'`,
      own: 'the relay of the API',
    })
    return refusal === undefined ? undefined : unavailable(refusal)
  }

  async close(): Promise<void> {
    clearInterval(this.#idleSearch)
    const empty = new Promise<void>((resolve) => (this.#onceEmpty = resolve))
    const stops = unavailable('This relay stops; connect to another one.')
    for (const call of this.#calls) if (call.isIdle) call.end(stops)
    const late = setTimeout(() => {
      for (const call of this.#calls) call.drop(stops)
    }, closeGraceMs)
    if (this.#calls.size > 0) await empty
    clearTimeout(late)
    for (const { session } of this.#hosts.values()) session.close()
  }

  #tell(hostId: string, status: GrpcStatus, headers: IncomingHttpHeaders): void {
    // Every SDK that compresses is refused once, and then connects without compression.
    if (status.code === GrpcCode.Unimplemented) return
    if (!this.#logged.take(hostId, performance.now())) return
    const path = (headers[':path'] ?? '').slice(0, loggedPathLength)
    this.#options.log.warn({ host: hostId, path, code: status.code }, `a call was refused: ${status.message}`)
  }

  #hostOf(hostId: string, nowMs: number): RelayedHost {
    const known = this.#hosts.get(hostId)
    if (known !== undefined) {
      known.lastCallMs = nowMs
      return known
    }
    const session = new TemporalSession(this.#options.temporal)
    const host = { share: new HostShare(), session, lastCallMs: nowMs }
    this.#hosts.set(hostId, host)
    return host
  }

  #forgetIdle(): void {
    const beforeMs = performance.now() - idleMs
    for (const [hostId, { share, session, lastCallMs }] of this.#hosts) {
      if (!share.isIdle || lastCallMs > beforeMs) continue
      session.close()
      this.#hosts.delete(hostId)
    }
  }
}
