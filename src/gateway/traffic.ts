import type { HostFailure } from '../domain/instance/host-work.ts'
import type { RouteService } from '../domain/service/route-feed.ts'
import type { StartKind } from '../domain/instance/start-report.ts'
import type { SecureUpstream } from './http/upstream/upstream-address.ts'

/**
 * The port between what speaks with clients (`http`, `tcp`) and what knows the instances (`balance`). A
 * caller with something to forward asks for an admission, and gives it back when it is over.
 */
export interface Traffic {
  /**
   * Answers at once if an instance is open and below its soft limit, which is the common case. Otherwise
   * answers when an instance was woken, or when none can be woken. If `signal` is aborted, the asking ends,
   * and an admission that comes too late is given back.
   */
  admit(ask: Ask): Admission | Refusal | Promise<Admission | Refusal>
}

export interface Ask {
  readonly service: RouteService
  /** The application's port. */
  readonly port: number
  /** What is counted by the limits: every HTTP request, or the open connection. */
  readonly kind: 'request' | 'connection'
  readonly signal: AbortSignal
  /** Whether a rollout's new version does not get it, because it accepted no connection for it before. */
  readonly onlyCurrent?: boolean
  /** Has the place of the request's wait in its trace, if it is traced. */
  readonly trace?: { readonly wait: string | undefined } | undefined
}

/**
 * Why an instance ends for its listeners. `close`: the instance shuts down or was deleted. Long-lived
 * connections have to be ended politely; what is in flight may finish. `gone`: the boot is over. `lost`:
 * the host's machine does not answer any more. After `gone` and `lost`, requests in flight get no answer
 * any more.
 */
export type EndReason = 'close' | 'gone' | 'lost'

/** One request or connection that an instance may be given. */
export interface Admission {
  readonly admitted: true
  readonly instanceUuid: string
  /** The rollout that brings in the version of which the instance is; undefined if there is none. */
  readonly rolloutUuid?: string | undefined
  /** Upstream connections of one boot are never used for another. */
  readonly boot: number
  readonly host: string
  readonly port: number
  /** Encrypts the connections there. Absent: they stay on this machine or in the mesh. */
  readonly secure?: SecureUpstream
  /**
   * Whether the instance had just been started. If so, a refused connection means that it does not listen
   * yet.
   */
  readonly fresh: boolean
  /**
   * Whether the instance has fallen asleep since. It may be awake again, on another host. A connection that
   * was being made then may never come about, whether or not the instance is awake.
   */
  readonly slept: boolean
  /** For the `Server-Timing` header and the histograms. */
  readonly timing: AdmissionTiming
  /** Ends the admission. Idempotent. */
  done(): void
  /**
   * Calls `listener` when the instance ends. Each reason is reported at most once, and none after `gone` or
   * `lost`. A reason that is already true is reported before this returns. There is one listener: a new one
   * replaces the old one, and all reasons are reported to it again. Returns a function that ends the calls.
   */
  onEnd(listener: (why: EndReason) => void): () => void
  /** Only for a connection: says that bytes passed. Cheap; called for every chunk. */
  touch(): void
  /**
   * Only for a connection, before bytes of the client are passed on. Returns undefined if the instance is
   * awake. If it sleeps, resolves when it can take the bytes: true, or false if the connection is no longer
   * valid or the instance did not come up. A silent host is waited for as long as by a new connection.
   */
  awaken(): Promise<boolean> | undefined
}

export interface AdmissionTiming {
  readonly queuedUs: number
  readonly wake?: { readonly kind: StartKind; readonly wakeUs: number }
}

export type Refusal = RefusalCause & {
  /** The rollout that brings in the version which refused; undefined if there is none. */
  readonly rolloutUuid?: string
}

type RefusalCause =
  /** No instance of the service runs or may be woken: for a client there is no service. */
  | { readonly admitted: false; readonly reason: 'no-instance' }
  /** Every instance is at its hard limit. */
  | { readonly admitted: false; readonly reason: 'hard-limit'; readonly retryAfterMs: number }
  /** The queue for a wake is full, or the wait was too long. */
  | { readonly admitted: false; readonly reason: 'queue-full' | 'timed-out'; readonly retryAfterMs: number }
  /**
   * The instance could not be woken, or its host does not answer. `message` is for its owner, `failure` for
   * anybody.
   */
  | {
      readonly admitted: false
      readonly reason: 'wake-failed' | 'host-away'
      readonly failure?: HostFailure
      readonly message: string
      readonly retryAfterMs: number
    }
  | { readonly admitted: false; readonly reason: 'aborted' }
