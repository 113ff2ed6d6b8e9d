import type { OpenRefusal } from './lease-protocol.ts'

/** What a gateway has of one instance; the diagram is in `gateway-lease.ts`. */
export const GatewayLeasePhase = {
  /** Nothing is sent there. */
  Closed: 'closed',
  /** The host was asked, or will be as soon as it is heard again. */
  Asking: 'asking',
  /** Traffic may pass. Whether some is under way is looked at when the lease would be due. */
  Open: 'open',
  /** As open; some was under way when it was looked at, so its end is to be told. */
  Busy: 'busy',
  /** It drains or shuts down: what is under way may finish, nothing new begins. */
  Ending: 'ending',
  /** The host is silent: what is under way goes on, nothing new begins before it has answered again. */
  Unsure: 'unsure',
} as const
export type GatewayLeasePhase = (typeof GatewayLeasePhase)[keyof typeof GatewayLeasePhase]

export const HostConnection = {
  Up: 'up',
  /** Lost a moment ago: what was handed out still stands. */
  Lost: 'lost',
  /** Its agent is not there for long: what was handed out still stands, but it is no use to wait. */
  Down: 'down',
  /** Nothing was heard for `leaseValidMs`: who is new waits. */
  Silent: 'silent',
  /** It is no use to wait. */
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

/** Plain JSON: simulations copy and compare it. */
export interface GatewayLeaseState {
  readonly phase: GatewayLeasePhase
  readonly link: HostConnection
  /** Of the newest `open`; only grows. */
  readonly epoch: number
  /** That `open` is not answered. */
  readonly asked: boolean
  /** Somebody waits for it. */
  readonly wanted: boolean
  /** In open, busy, ending and unsure. */
  readonly lease?: OpenedLease
  /** Whose connections may still be there, although its lease is given back; 0: nobody's. */
  readonly memoryBoot: number
  /** The newest boot that was heard of. */
  readonly boot: number
  /** `drained` is to be said of this boot; 0: of none. */
  readonly draining: number
  /** In open: when to look whether the lease is still needed. */
  readonly dueAtMs?: number
  readonly refusal?: LeaseRefusal
}

export interface LeaseRefusal extends Omit<OpenRefusal, 'retryAfterMs' | 'reason'> {
  readonly reason: OpenRefusal['reason'] | 'host-away'
  /** Until then the answer would be the same. */
  readonly untilMs: number
}

export type GatewayLeaseEvent =
  /** A request waits. */
  | { readonly kind: 'wanted' }
  /** None does any more. */
  | { readonly kind: 'unwanted' }
  /** A port is wanted that the lease does not reach. */
  | { readonly kind: 'port-missing' }
  /**
   * Of `dueAtMs`. `busy`: something is under way that needs the lease; `lastMs`: when traffic last passed.
   */
  | { readonly kind: 'due'; readonly busy: boolean; readonly lastMs: number }
  /** What was under way in busy has ended. */
  | { readonly kind: 'calm'; readonly lastMs: number }
  /** Nothing at all is connected any more, quiet connections included. */
  | { readonly kind: 'empty' }
  | ({ readonly kind: 'opened' } & OpenedLease)
  | ({ readonly kind: 'refused'; readonly epoch: number } & OpenRefusal)
  | { readonly kind: 'drain'; readonly boot: number; readonly connected: boolean }
  | { readonly kind: 'undrain'; readonly boot: number }
  | { readonly kind: 'close'; readonly boot: number; readonly connected: boolean }
  | { readonly kind: 'gone'; readonly boot: number }
  | { readonly kind: 'link-lost' }
  | { readonly kind: 'link-down' }
  | { readonly kind: 'link-silent' }
  | { readonly kind: 'link-away' }
  /** The host's machine is not there either. */
  | { readonly kind: 'link-unreachable' }
  /** The host has answered the `hello`. */
  | { readonly kind: 'link-back' }
  /** The feed says something new of it: an old refusal counts no more. */
  | { readonly kind: 'news' }

export type GatewayLeaseEffect =
  /** To the host; lost when it is not connected, which `link-back` makes good. */
  | { readonly kind: 'open'; readonly epoch: number }
  | { readonly kind: 'withdraw'; readonly epoch: number }
  | { readonly kind: 'idle'; readonly epoch: number; readonly quietMs: number }
  | { readonly kind: 'drained'; readonly boot: number }
  /** Whoever waits may go. */
  | { readonly kind: 'admit' }
  /** Whoever waits has to look elsewhere. */
  | { readonly kind: 'fail'; readonly refusal: LeaseRefusal }
  /**
   * Connections of boots up to this one are to end. `lost`: those that there are; the boot itself may go on.
   */
  | { readonly kind: 'end'; readonly boot: number; readonly why: 'close' | 'gone' | 'lost' }
  /** Connections of any other memory lead nowhere. */
  | { readonly kind: 'end-other-memory'; readonly memoryBoot: number }
  /**
   * Idle connections to that boot are to be closed: they would keep it from sleeping, or be dead when it
   * wakes.
   */
  | { readonly kind: 'forget'; readonly boot: number }

export interface GatewayLeaseStep {
  readonly state: GatewayLeaseState
  readonly effects: readonly GatewayLeaseEffect[]
}

export const hostAwayRetryMs = 1_000

/** `epoch` is to be above every one that this gateway ever used for the instance. */
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
