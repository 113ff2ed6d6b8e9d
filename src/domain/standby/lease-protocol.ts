import type { LeasePhase } from './host-lease-phase.ts'
import type { HostFailure } from '../instance/host-work.ts'
import type { StartKind } from '../instance/start-report.ts'

/**
 * What a gateway and a host say to each other, as lines of JSON in both directions over one connection:
 * `GET /traffic` on the agent's URL with `Upgrade: roost-traffic/1` and `Authorization: Bearer <traffic
 * secret>`. The secret is HMAC-SHA256 of `trafficSecretContext` with the agent's secret as key, in base64url:
 * a gateway can not be a host.
 *
 * The host alone knows whether a VM sleeps, so it hands out *leases*: only while a gateway holds an open
 * lease of an instance does it send traffic there. It gives the lease back when nothing has been in flight
 * for `returnAfterMs`, and asks again before it sends more. An instance whose leases are all returned may go
 * to standby, and from the moment the host begins that, an `open` waits; it is answered when the host has
 * woken the instance. So no request meets a VM that goes down, and the gateway needs no word of the control
 * plane: standby leaves the host a permit, the number of the one boot that it may start by itself.
 *
 * Either side sends `beat` every `beatIntervalMs`. A gateway that has heard nothing for `leaseValidMs` sends
 * no new traffic on its leases until the host has answered again, except while no agent is there
 * (`host-silence.ts`); a host keeps the leases of a silent or lost gateway for `leaseKeptMs`, counted from
 * the last word, and after its own start waits that long before anything goes to standby.
 */
export const trafficSecretContext = 'roost traffic'
export const trafficUpgrade = 'roost-traffic/1'

export const beatIntervalMs = 1_000
/** Between two reports of loads. */
export const loadReportIntervalMs = 1_000
export const leaseValidMs = 5_000
/**
 * Until then new traffic waits for an agent that is not there: one that died is back by then, also on a
 * machine that is busy. For a host that is silent it waits less: `host-silence.ts`.
 */
export const hostAwayAfterMs = 20_000
/** More than `leaseValidMs`, for clocks that run unevenly and lines under way. */
export const leaseKeptMs = 8_000
/** A line of either side has at most this many bytes; a longer one ends the connection. */
export const maxTrafficLineBytes = 1 << 20

export type GatewayMessage =
  /** The first line. What the gateway believes to hold; the host answers `gone` for what is not so. */
  | {
      readonly kind: 'hello'
      readonly gatewayId: string
      readonly held: readonly { readonly instance: string; readonly boot: number; readonly epoch: number }[]
    }
  /**
   * Wants to send traffic to these ports. `epoch` grows with every `open` of this gateway for the instance.
   */
  | {
      readonly kind: 'open'
      readonly instance: string
      readonly epoch: number
      readonly ports: readonly number[]
    }
  /** Nobody waits for the answer any more. The host still answers. */
  | { readonly kind: 'withdraw'; readonly instance: string; readonly epoch: number }
  /** The lease is given back: nothing has been in flight for `quietMs`. */
  | { readonly kind: 'idle'; readonly instance: string; readonly epoch: number; readonly quietMs: number }
  /** Nothing of this boot is connected any more; after `drain` only. */
  | { readonly kind: 'drained'; readonly instance: string; readonly boot: number }
  /**
   * What is there now, and how many were finished since the last report; every `loadReportIntervalMs`, of
   * instances of which there is news. A report with `handledMore` is followed by one of its own, also when
   * that is 0, so that it stands for its interval only.
   */
  | { readonly kind: 'load'; readonly loads: readonly InstanceLoad[] }
  /**
   * What changed of the counts since they were told last. Only on `report`: the intervals of `load` go on
   * undisturbed.
   */
  | { readonly kind: 'counts'; readonly counts: readonly InstanceCounts[] }
  /** After all `counts` of the `report` with this number. */
  | { readonly kind: 'reported'; readonly number: number }
  | { readonly kind: 'beat' }

export interface InstanceCounts {
  readonly instance: string
  readonly connections: number
  readonly requests: number
  readonly queued: number
  /** Finished since they were told last. */
  readonly handledMore: number
}

export interface InstanceLoad extends InstanceCounts {
  /**
   * Requests and connections in the mean since the last look at them: of short requests, what is there at one
   * moment says little.
   */
  readonly inFlight: number
  /** Also finished since the last report, but told by `counts` meanwhile; absent: none. */
  readonly handledTold?: number
}

export type HostMessage =
  /** The answer to `hello`. */
  | { readonly kind: 'welcome'; readonly nodeId: string }
  | ({ readonly kind: 'opened'; readonly instance: string; readonly epoch: number } & OpenLease)
  | ({ readonly kind: 'refused'; readonly instance: string; readonly epoch: number } & OpenRefusal)
  /** No new traffic to this boot; `drained` is to be said when nothing is connected any more. */
  | { readonly kind: 'drain'; readonly instance: string; readonly boot: number }
  /** A drain was called off. */
  | { readonly kind: 'undrain'; readonly instance: string; readonly boot: number }
  /** It is being shut down: no new traffic, WebSockets get a close frame; requests in flight may finish. */
  | { readonly kind: 'close'; readonly instance: string; readonly boot: number }
  /** That boot is over: the lease is void, and what is connected to it leads nowhere. */
  | { readonly kind: 'gone'; readonly instance: string; readonly boot: number }
  /** Somebody reads the counts now. A gateway that does not know this says nothing, and is not waited for. */
  | { readonly kind: 'report'; readonly number: number }
  | { readonly kind: 'beat' }

export interface OpenLease {
  readonly boot: number
  /**
   * Grows when the memory of the guest began anew. As long as it is the same, connections made under an
   * earlier lease still stand, also over standby.
   */
  readonly memoryBoot: number
  /** Where each asked port is reached from the host itself; a port that can not be reached is left out. */
  readonly reach: Readonly<Record<number, { readonly host: string; readonly port: number }>>
  /** Absent: the lease is kept until it is void. */
  readonly returnAfterMs?: number
  /** Connections without a byte for that time do not keep the lease. */
  readonly quietConnectionsSleep: boolean
  /** Only where this `open` had to wait for the instance to come up. */
  readonly woken?: { readonly kind: StartKind; readonly wakeUs: number }
}

export interface OpenRefusal {
  /** `stopped`: there is nothing to wake; `draining`: it is on its way down, and not to be woken. */
  readonly reason: 'stopped' | 'draining' | 'unknown' | 'failed'
  /** With `failed`: why it could not be woken, for people; never a secret. */
  readonly failure?: HostFailure
  readonly message: string
  /** When the next try makes sense. */
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
  /** Gateways that hold a lease. */
  readonly leases: number
  readonly connections: number
  readonly requests: number
  readonly queued: number
  /** The instance's own count of reasons against standby is above zero. */
  readonly disabled: boolean
  /** Nothing has happened since; absent while something does. */
  readonly idleSinceMs?: number
  /** It could sleep now, but its user's instances fell asleep as often as they may lately. */
  readonly heldBack?: boolean
  /** The boot that the host may start by itself. */
  readonly permit?: number
  /** Why the last wake failed and when the next try is permitted. */
  readonly wakeFailure?: { readonly message: string; readonly retryAtMs: number }
  /**
   * Since then the VM stands still, because the host's disk has no room for what it writes; it goes on by
   * itself.
   */
  readonly stalledSinceMs?: number
  /** When it was last to stand by, the host's disk had no room for its memory. */
  readonly noRoom?: { readonly atMs: number; readonly neededMb: number; readonly leftMb: number }
}
