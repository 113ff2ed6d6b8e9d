import type { HostFailure } from '../domain/instance/host-work.ts'
import type { RouteService } from '../domain/service/route-feed.ts'
import type { StartKind } from '../domain/instance/start-report.ts'

/**
 * The port between what speaks with clients (`http`, `tcp`) and what knows the instances (`balance`): whoever
 * has something to forward asks for an admission and gives it back when that is over.
 */
export interface Traffic {
  /**
   * Answers at once where an instance is open and below its soft limit, which is the common case; else when
   * one was woken, or when nothing can be had. With an aborted `signal` the asking ends, and an admission
   * that comes too late is given back.
   */
  admit(ask: Ask): Admission | Refusal | Promise<Admission | Refusal>
}

export interface Ask {
  readonly service: RouteService
  /** The application's port. */
  readonly port: number
  /** What is counted: every HTTP request, or the open connection. */
  readonly kind: 'request' | 'connection'
  readonly signal: AbortSignal
}

/**
 * `close`: it shuts down or was deleted, and long-lived connections are to be ended politely; what is under
 * way may finish. `gone`: its boot is over. `lost`: its host's machine does not answer any more. With either,
 * what is under way leads nowhere.
 */
export type EndReason = 'close' | 'gone' | 'lost'

/** One request or connection that an instance may be given. */
export interface Admission {
  readonly admitted: true
  readonly instanceUuid: string
  /** Upstream connections of one boot are never used for another. */
  readonly boot: number
  readonly host: string
  readonly port: number
  /** It had just been started: a refused connection means that it does not listen yet. */
  readonly fresh: boolean
  /** For the `Server-Timing` header and the histograms. */
  readonly timing: AdmissionTiming
  /** It is over. Idempotent. */
  done(): void
  /**
   * Each reason is told at most once, nothing after `gone` or `lost`, and what was so already is told at
   * once, before this returns. One listener: another one takes the place of the first, and is told anew.
   * Returns how to listen no longer.
   */
  onEnd(listener: (why: EndReason) => void): () => void
  /** Only for a connection: says that bytes passed. Cheap; called for every chunk. */
  touch(): void
  /**
   * Only for a connection, before bytes of the client are passed on: resolves when the instance can take
   * them. At once, and then as undefined, unless it sleeps through this connection; false: the connection
   * does not stand any more, or the instance did not come up. A silent host is waited for as by a new
   * connection.
   */
  awaken(): Promise<boolean> | undefined
}

export interface AdmissionTiming {
  readonly queuedUs: number
  readonly wake?: { readonly kind: StartKind; readonly wakeUs: number }
}

export type Refusal =
  /** Nothing of the service runs or may be woken: for a client there is no service. */
  | { readonly admitted: false; readonly reason: 'no-instance' }
  /** Every instance is at its hard limit. */
  | { readonly admitted: false; readonly reason: 'hard-limit'; readonly retryAfterMs: number }
  /** The queue of those who wait for a wake is full, or the wait was too long. */
  | { readonly admitted: false; readonly reason: 'queue-full' | 'timed-out'; readonly retryAfterMs: number }
  /**
   * It could not be woken, or its host does not answer. `message` is for its owner, `failure` for anybody.
   */
  | {
      readonly admitted: false
      readonly reason: 'wake-failed' | 'host-away'
      readonly failure?: HostFailure
      readonly message: string
      readonly retryAfterMs: number
    }
  | { readonly admitted: false; readonly reason: 'aborted' }
