import type { LeasePhase } from './host-lease-phase.ts'
import type { HostFailure } from '../instance/host-work.ts'
import type { StartKind } from '../instance/start-report.ts'

/**
 * The messages between a gateway and a host: lines of JSON in both directions over one connection, `GET
 * /traffic` on the agent's URL with `Upgrade: roost-traffic/1` and `Authorization: Bearer <traffic secret>`.
 * The secret is HMAC-SHA256 of `trafficSecretContext` with the agent's secret as key, in base64url, so a
 * gateway can not pose as a host.
 *
 * The host alone knows whether a VM sleeps, so it hands out *leases*: a gateway sends traffic to an instance
 * only while it holds an open lease of it. It gives the lease back when nothing has been in flight for
 * `returnAfterMs`, and asks again before it sends more. An instance whose leases are all returned may go to
 * standby. From the moment the host begins that, an `open` waits; it is answered when the host has woken the
 * instance. So no request meets a VM that goes down. Nor does the gateway need the control plane for a wake:
 * standby leaves the host a permit, the number of the one boot that it may start by itself.
 *
 * Either side sends `beat` every `beatIntervalMs`. A gateway that has heard nothing for `leaseValidMs` sends
 * no new traffic on its leases until the host has answered again, except while no agent is there
 * (`../host/silence.ts`). A host keeps the leases of a silent or lost gateway for `leaseKeptMs`, counted from
 * its last message. After its own start a host waits that long before anything goes to standby.
 *
 * The host also divides the hard limit of an instance among its gateways: each may have as many in flight as
 * its *share*, and all shares together are at most the hard limit. A gateway whose share is used up sends
 * `want`. If nothing of the hard limit is left, the host asks the other gateways for what they do not use
 * (`spare`, `gave`), and answers the first with `share`. All these are changes of a share and not its size,
 * so they may cross on their way. They count for one memory of the guest; with the memory all shares end.
 */
export const trafficSecretContext = 'roost traffic'
export const trafficUpgrade = 'roost-traffic/1'

export const beatIntervalMs = 1_000
/** The time between two reports of loads. */
export const loadReportIntervalMs = 1_000
export const leaseValidMs = 5_000
/**
 * How long new traffic waits for an agent that is not there. An agent that died is back by then, even on a
 * busy machine. Traffic waits less for a host that is silent: `../host/silence.ts`.
 */
export const hostAwayAfterMs = 20_000
/**
 * How long a host keeps the leases of a gateway that sends nothing. It is more than `leaseValidMs`, to
 * allow for clocks that run unevenly and for messages under way.
 */
export const leaseKeptMs = 8_000
/**
 * How long a gateway waits for its share at most, if other gateways do not say whether they can spare
 * something. They answer from memory.
 */
export const shareWaitMs = 1_000
/**
 * How long the share of a gateway is kept that closed its connection. Its process has probably ended; one
 * that goes on connects again within this time. The share of a gateway of which nothing is heard any more
 * is kept as long as its lease.
 */
export const closedShareMs = 1_000
/**
 * How long a new agent waits for the gateways of the instances that run already. In this time they connect
 * again, and tell the leases and shares that they have. Until then it hands out nothing of a hard limit, ends
 * no drain, and shuts nothing down: a gateway that was not heard yet may have requests in flight, and would
 * not hear that it may begin no more.
 */
export const gatewaysToldMs = 1_500
/** How the names begin under which programs of users hold leases. Those of gateways are UUIDs. */
export const programLeasePrefix = 'exec-'
/** The same for checks, which a host makes itself. */
export const checkLeasePrefix = 'check-'
/** A line of either side has at most this many bytes; a longer one ends the connection. */
export const maxTrafficLineBytes = 1 << 20

export type GatewayMessage =
  /**
   * The first line: the leases that the gateway believes to hold. The host answers `gone` for each lease
   * that it does not know.
   */
  | {
      readonly kind: 'hello'
      readonly gatewayId: string
      readonly held: readonly { readonly instance: string; readonly boot: number; readonly epoch: number }[]
      /** The shares that the gateway has. Gateways of older versions tell none. */
      readonly shares?: readonly ({ readonly instance: string } & HeldShare)[]
    }
  /**
   * The gateway wants to send traffic to these ports. `epoch` grows with every `open` of this gateway for the
   * instance.
   */
  | {
      readonly kind: 'open'
      readonly instance: string
      readonly epoch: number
      readonly ports: readonly number[]
      /** The hard limit of the service. Without it the host gives no share, and the gateway counts alone. */
      readonly limit?: number
      /**
       * The lease is for what is in flight since before the instance was sent to standby. It waits for the
       * wake, and does not cause one.
       */
      readonly patient?: true
      /** The place in a trace of the request that wants the lease. */
      readonly traceparent?: string
    }
  /** Nobody waits for the answer any more. The host still answers. */
  | { readonly kind: 'withdraw'; readonly instance: string; readonly epoch: number }
  /** The lease is given back: nothing has been in flight for `quietMs`. */
  | {
      readonly kind: 'idle'
      readonly instance: string
      readonly epoch: number
      readonly quietMs: number
      /** What is given back of the share; the rest is for quiet connections. */
      readonly gave?: ShareChange
    }
  /**
   * The share is used up, and so many more wait. `share` answers it. A gateway sends no other `want` for the
   * instance before that.
   */
  | ({ readonly kind: 'want'; readonly instance: string; readonly limit: number } & ShareChange)
  /** The answer to `spare`: so much is given back, perhaps nothing. */
  | ({ readonly kind: 'gave'; readonly instance: string } & ShareChange)
  /** Nothing of this boot is connected any more; sent after `drain` only. */
  | { readonly kind: 'drained'; readonly instance: string; readonly boot: number }
  /**
   * What is in flight now, and how many were finished since the last report. It is sent every
   * `loadReportIntervalMs`, with the instances whose load changed. After a report with `handledMore` above
   * 0 another one follows, even with 0, so that each report describes its own interval only.
   */
  | { readonly kind: 'load'; readonly loads: readonly InstanceLoad[] }
  /**
   * What changed in the counts since they were last sent. It is sent on `report` only, and does not change
   * the intervals of `load`.
   */
  | { readonly kind: 'counts'; readonly counts: readonly InstanceCounts[] }
  /** Sent after all `counts` for the `report` with this number. */
  | { readonly kind: 'reported'; readonly number: number }
  | { readonly kind: 'beat' }

/** A change of a share of the memory that began with that boot. */
export interface ShareChange {
  readonly memoryBoot: number
  readonly count: number
}

/** A share, and the hard limit of the service as its gateway knows it. */
export interface HeldShare extends ShareChange {
  readonly limit: number
}

export interface InstanceCounts {
  readonly instance: string
  readonly connections: number
  readonly requests: number
  readonly queued: number
  /** How many were finished since the counts were last sent. */
  readonly handledMore: number
}

export interface InstanceLoad extends InstanceCounts {
  /**
   * Requests and connections, as the mean since the last look at them: if requests are short, the number at
   * one moment says little.
   */
  readonly inFlight: number
  /**
   * How many more were finished since the last report, but were already sent in `counts`. It is absent if
   * there are none.
   */
  readonly handledTold?: number
}

export type HostMessage =
  /** The answer to `hello`. */
  | { readonly kind: 'welcome'; readonly nodeId: string }
  | ({ readonly kind: 'opened'; readonly instance: string; readonly epoch: number } & OpenLease)
  | ({ readonly kind: 'refused'; readonly instance: string; readonly epoch: number } & OpenRefusal)
  /** The answer to `want`: the share grows by `count`. With 0, nothing of the hard limit is left. */
  | ({ readonly kind: 'share'; readonly instance: string } & ShareChange)
  /** Another gateway could use so much of the share. The gateway gives back what it does not use. */
  | ({ readonly kind: 'spare'; readonly instance: string } & ShareChange)
  /** No new traffic may go to this boot. `drained` has to be sent when nothing is connected any more. */
  | { readonly kind: 'drain'; readonly instance: string; readonly boot: number }
  /**
   * The instance goes to standby although there is traffic, because a user asked for it. Nothing new may
   * begin: it waits, and a lease is asked for again. The lease has to be given back as soon as no request is
   * in flight, or after `withinMs`. What is in flight then goes on after the wake; a patient `open` keeps the
   * instance awake for it from then on. `undrain` calls it off.
   */
  | { readonly kind: 'rest'; readonly instance: string; readonly boot: number; readonly withinMs: number }
  /** A drain was called off, or a rest. */
  | { readonly kind: 'undrain'; readonly instance: string; readonly boot: number }
  /**
   * The boot is being shut down: no new traffic, WebSockets get a close frame, requests in flight may finish.
   */
  | { readonly kind: 'close'; readonly instance: string; readonly boot: number }
  /** The boot has ended: the lease is void, and connections to the boot are lost. */
  | { readonly kind: 'gone'; readonly instance: string; readonly boot: number }
  /** Scale-to-zero of the instance was changed: how its lease of that boot is to be kept from now on. */
  | ({ readonly kind: 'settings'; readonly instance: string; readonly boot: number } & LeaseTerms)
  /**
   * Somebody reads the counts now. A gateway that does not know this message does not answer, and is not
   * waited for.
   */
  | { readonly kind: 'report'; readonly number: number }
  | { readonly kind: 'beat' }

/** How a lease is kept; it follows from scale-to-zero. */
export interface LeaseTerms {
  /**
   * How long nothing may be in flight before the gateway returns the lease. If it is absent, the lease is
   * kept until it is void.
   */
  readonly returnAfterMs?: number
  /** Whether connections without a byte for that time do not keep the lease. */
  readonly quietConnectionsSleep: boolean
}

export interface OpenLease extends LeaseTerms {
  readonly boot: number
  /**
   * Grows when the guest's memory begins again. While it is the same, connections made under an earlier lease
   * are still valid, also across standby.
   */
  readonly memoryBoot: number
  /**
   * Where each requested port is reached from the host itself. A port that can not be reached is left out.
   */
  readonly reach: Readonly<Record<number, { readonly host: string; readonly port: number }>>
  /**
   * By how much the share of the gateway grows. If it is 0, the host tries to get something, and `share`
   * follows. If it is absent, the host gives no shares.
   */
  readonly share?: number
  /** Present only if this `open` had to wait for the instance to come up. */
  readonly woken?: { readonly kind: StartKind; readonly wakeUs: number }
}

export interface OpenRefusal {
  /**
   * `stopped` means that there is nothing to wake, `draining` that the instance is on its way down and is not
   * woken.
   */
  readonly reason: 'stopped' | 'draining' | 'unknown' | 'failed'
  /** With `failed`: why the instance could not be woken. `message` is for people, and never has a secret. */
  readonly failure?: HostFailure
  readonly message: string
  /** After this time another try makes sense. */
  readonly retryAfterMs: number
}

/**
 * `GET /instances/<uuid>/host-lease` with the agent's secret: why the host keeps an instance awake, or lets
 * it sleep.
 */
export interface HostLeaseView {
  readonly phase: LeasePhase
  readonly boot: number
  readonly awake: boolean
  /** Gateways, programs of users and checks that hold a lease. */
  readonly leases: number
  /** Programs of users among them. Hosts of older versions do not tell it. */
  readonly programs?: number
  readonly connections: number
  readonly requests: number
  readonly queued: number
  /** The instance's own count of reasons against standby is above zero. */
  readonly disabled: boolean
  /** The time since which nothing has happened. It is absent while something happens. */
  readonly idleSinceMs?: number
  /**
   * Whether the instance could sleep now, but has to wait because its user's instances fell asleep as often
   * as they may.
   */
  readonly heldBack?: boolean
  /** The boot that the host may start by itself. */
  readonly permit?: number
  /** Why the last wake failed and when the next try is permitted. */
  readonly wakeFailure?: { readonly message: string; readonly retryAtMs: number }
  /**
   * The time since which the VM stands still, because the host's disk has no room for what it writes. The
   * VM continues by itself once there is room.
   */
  readonly stalledSinceMs?: number
  /** The last attempt to stand by, if it failed because the host's disk had no room for the memory. */
  readonly noRoom?: { readonly atMs: number; readonly neededMb: number; readonly leftMb: number }
}
