import type { OpenRefusal } from './lease-protocol.ts'

/** The phases of a gateway's lease of one instance; the diagram is in `gateway-lease.ts`. */
export const GatewayLeasePhase = {
  /** No traffic is sent to the instance. */
  Closed: 'closed',
  /** The host was asked for a lease, or will be as soon as it is heard again. */
  Asking: 'asking',
  /** Traffic may pass. When the lease is due, the gateway checks whether anything is in flight. */
  Open: 'open',
  /**
   * Like `open`, but something was in flight at the last check. The event `calm` follows when the last of it
   * ends.
   */
  Busy: 'busy',
  /** The instance drains or shuts down: what is in flight may finish, nothing new begins. */
  Ending: 'ending',
  /**
   * The instance is to sleep: what is in flight may finish, and new traffic waits. The lease is given back
   * when the last request ends, or when it is due.
   */
  Resting: 'resting',
  /** The host is silent: what is in flight goes on, nothing new begins before the host has answered again. */
  Unsure: 'unsure',
} as const
export type GatewayLeasePhase = (typeof GatewayLeasePhase)[keyof typeof GatewayLeasePhase]

export const HostConnection = {
  Up: 'up',
  /** The connection broke a moment ago: leases still stand. */
  Lost: 'lost',
  /** The host has had no agent for long: leases still stand, but waiting for the host is of no use. */
  Down: 'down',
  /** Nothing was heard of the host for `leaseValidMs`: new traffic waits. */
  Silent: 'silent',
  /** The host left the routes or has been silent for long: waiting for it is of no use. */
  Away: 'away',
} as const
export type HostConnection = (typeof HostConnection)[keyof typeof HostConnection]

/** The part of a lease that decisions need. */
export interface OpenedLease {
  readonly boot: number
  readonly memoryBoot: number
  readonly epoch: number
  readonly returnAfterMs?: number
}

/** The state is plain JSON, because simulations copy and compare it. */
export interface GatewayLeaseState {
  readonly phase: GatewayLeasePhase
  readonly link: HostConnection
  /** The epoch of the newest `open`; it only grows. */
  readonly epoch: number
  /** Whether that `open` is still without an answer. */
  readonly asked: boolean
  /**
   * The lease is only for what was in flight when the instance was sent to standby. It is asked for without
   * a wake, again after a lost connection, until it is opened or refused.
   */
  readonly patient?: true
  /** Whether a request waits for the answer. */
  readonly wanted: boolean
  /** The lease; present in the phases open, busy, ending, resting and unsure. */
  readonly lease?: OpenedLease
  /** The memory boot whose connections may still exist, although its lease is given back; 0 if none. */
  readonly memoryBoot: number
  /** The newest boot of which the gateway has heard. */
  readonly boot: number
  /** The boot for which `drained` has to be sent; 0 if none. */
  readonly draining: number
  /**
   * In the phase open: when to check whether the lease is still needed. In the phase resting: when it is
   * given back at the latest.
   */
  readonly dueAtMs?: number
  readonly refusal?: LeaseRefusal
}

export interface LeaseRefusal extends Omit<OpenRefusal, 'retryAfterMs' | 'reason'> {
  readonly reason: OpenRefusal['reason'] | 'host-away'
  /** Until this time another request for a lease would get the same refusal, so the host is not asked. */
  readonly untilMs: number
}

export type GatewayLeaseEvent =
  /** A request waits. */
  | { readonly kind: 'wanted' }
  /** No request waits any more. */
  | { readonly kind: 'unwanted' }
  /** A request wants a port that the lease does not reach. */
  | { readonly kind: 'port-missing' }
  /**
   * The time `dueAtMs` has come. `busy` says whether something in flight needs the lease, `lastMs` when
   * traffic last passed.
   */
  | { readonly kind: 'due'; readonly busy: boolean; readonly lastMs: number }
  /**
   * What was in flight in `busy`, or the last request in `resting`, has ended. `busy`: something else is in
   * flight that needs the lease.
   */
  | { readonly kind: 'calm'; readonly lastMs: number; readonly busy?: boolean }
  /** Nothing at all is connected any more, quiet connections included. */
  | { readonly kind: 'empty' }
  | ({ readonly kind: 'opened' } & OpenedLease)
  | ({ readonly kind: 'refused'; readonly epoch: number } & OpenRefusal)
  /** How the lease of this boot is to be kept from now on. */
  | {
      readonly kind: 'settings'
      readonly boot: number
      readonly returnAfterMs?: number
      readonly lastMs: number
    }
  | { readonly kind: 'drain'; readonly boot: number; readonly connected: boolean }
  | { readonly kind: 'undrain'; readonly boot: number }
  /**
   * The instance is to sleep. `requests` says whether requests are in flight, `busy` whether anything is that
   * needs the lease.
   */
  | {
      readonly kind: 'rest'
      readonly boot: number
      readonly withinMs: number
      readonly requests: boolean
      readonly busy: boolean
      readonly lastMs: number
    }
  | { readonly kind: 'close'; readonly boot: number; readonly connected: boolean }
  | { readonly kind: 'gone'; readonly boot: number }
  | { readonly kind: 'link-lost' }
  | { readonly kind: 'link-down' }
  | { readonly kind: 'link-silent' }
  | { readonly kind: 'link-away' }
  /** Not only the agent is away: the host's machine can not be reached either. */
  | { readonly kind: 'link-unreachable' }
  /** The host has answered the `hello`. */
  | { readonly kind: 'link-back' }
  /** The instance is on another host, to which this is the connection. The old host has its lease back. */
  | { readonly kind: 'moved'; readonly link: HostConnection }
  /** The route feed has news of the instance: an old refusal no longer counts. */
  | { readonly kind: 'news' }

export type GatewayLeaseEffect =
  /**
   * This effect and the next three are messages to the host. They are lost if the host is not connected; the
   * event `link-back` makes up for that.
   */
  | { readonly kind: 'open'; readonly epoch: number; readonly patient?: true }
  | { readonly kind: 'withdraw'; readonly epoch: number }
  | { readonly kind: 'idle'; readonly epoch: number; readonly quietMs: number }
  | { readonly kind: 'drained'; readonly boot: number }
  /** Waiting requests may pass. */
  | { readonly kind: 'admit' }
  /** Waiting requests have to try elsewhere. */
  | { readonly kind: 'fail'; readonly refusal: LeaseRefusal }
  /**
   * Connections to boots up to this one have to end. With `lost` only those that exist now: the boot itself
   * may go on.
   */
  | { readonly kind: 'end'; readonly boot: number; readonly why: 'close' | 'gone' | 'lost' }
  /** Connections to any other memory boot have to end, because they lead nowhere. */
  | { readonly kind: 'end-other-memory'; readonly memoryBoot: number }
  /**
   * Idle connections to that boot have to be closed: they would keep it from sleeping, or be dead when it
   * wakes.
   */
  | { readonly kind: 'forget'; readonly boot: number }

export interface GatewayLeaseStep {
  readonly state: GatewayLeaseState
  readonly effects: readonly GatewayLeaseEffect[]
}

export const hostAwayRetryMs = 1_000

/** `epoch` must be above every epoch that this gateway has ever used for the instance. */
export function closedGatewayLease(epoch: number, link: HostConnection): GatewayLeaseState {
  return {
    phase: GatewayLeasePhase.Closed,
    link,
    epoch,
    asked: false,
    wanted: false,
    memoryBoot: 0,
    boot: 0,
    draining: 0,
  }
}
