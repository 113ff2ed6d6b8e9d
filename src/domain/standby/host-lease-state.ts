import { LeasePhase } from './host-lease-phase.ts'
import type { HostFailure, MovedVolume, MovePlace, StandByRefusal } from '../instance/host-work.ts'
import type { HeldShare, LeaseTerms, OpenRefusal, ShareChange } from './lease-protocol.ts'
import { noScaleToZero } from './scale-to-zero.ts'
import type { ScaleToZero } from './scale-to-zero.ts'
import type { StartKind } from '../instance/start-report.ts'

/** What one gateway has of the instance. */
export interface Lease {
  readonly gateway: string
  /**
   * `returned` means that the gateway may still have connections that carry nothing, and hears how the boot
   * ends.
   */
  readonly status: 'waiting' | 'held' | 'returned'
  /** The epoch of the newest `open`. */
  readonly epoch: number
  readonly ports: readonly number[]
  /** The boot for which the lease was last opened; 0 if none. */
  readonly boot: number
  readonly askedAtMs: number
  /** Whether the instance was not up when the gateway asked. */
  readonly waited: boolean
  /** Set while the gateway is lost: the lease is kept until this time. */
  readonly keptUntilMs?: number
  /** Whether the gateway said that nothing is connected any more. */
  readonly drained: boolean
  /** The hard limit that the gateway told. Without it the gateway counts alone. */
  readonly limit?: number
  /**
   * In `waiting`: the epoch of the lease that the gateway still holds, because it asked again before it gave
   * that one back.
   */
  readonly heldEpoch?: number
  /** In `waiting`: the gateway waits for a wake, and does not cause one. */
  readonly patient?: true
}

export interface StandByOrder {
  readonly boot: number
  readonly epoch: number
  readonly permit: number
  readonly stateful: boolean
  readonly graceMs: number
  /** Present if a user asked for it: how long what is in flight may take to end. */
  readonly drainMs?: number
  /** Present if the instance moves to that host: it is held as soon as it sleeps. */
  readonly hold?: MovePlace
  readonly volume?: MovedVolume
}

/** Plain JSON: simulations copy and compare it. */
export interface HostLeaseState {
  readonly phase: LeasePhase
  /** The newest boot that was asked for; in standby, the boot that went there. */
  readonly boot: number
  /** The boot with which the guest's memory began; 0 if there is none. */
  readonly memoryBoot: number
  readonly settings: ScaleToZero
  readonly leases: readonly Lease[]
  readonly disabled: boolean
  /** The earliest time at which quiet may begin; what was before it does not count as quiet. */
  readonly quietFromMs: number
  /**
   * Whether there was traffic, or a report of it, since the boot came up. If so, it no longer matters when it
   * first listened.
   */
  readonly touched: boolean
  /** Until this time the host does not know which leases gateways hold. */
  readonly unsureUntilMs: number
  /** The present idle period. */
  readonly idle?: IdlePeriod
  /** The last epoch. An epoch is at least the time in ms, so epochs grow across agents too. */
  readonly lastEpoch: number
  readonly kind?: StartKind
  /** The order that is carried out in `standing-by`, or was when a stop came. */
  readonly order?: StandByOrder
  /**
   * In `standing-by`, as long as gateways still hold leases: the VM goes on until all have given them back.
   * At this time the order is given up.
   */
  readonly restUntilMs?: number
  /** Whether the grace of the shutdown was already cut. */
  readonly hurried: boolean
  /** The order that was carried out last. A repeat of it gets the same answer. */
  readonly slept?: Pick<StandByOrder, 'boot' | 'permit'>
  /** The boot that the host may start by itself. It is present in `asleep`, `held` and `waking`. */
  readonly permit?: number
  readonly wakeFailure?: WakeFailure
  /** From `standing-by` to the end of `waking`: a peer sent something, and no wake has begun for it yet. */
  readonly peersWait?: true
  /** In `waking`: the packet of a peer began the wake. */
  readonly peersWoke?: true
  /** Whether the request to drain has its answer. */
  readonly drainAnswered: boolean
  /** The hard limit, as a gateway told it last. */
  readonly hardLimit: number
  /** What each gateway may have in flight; see `host-shares.ts`. */
  readonly shares: readonly GatewayShare[]
  /**
   * Until this time the gateways still connect to a new agent. After it the host knows the leases and shares
   * of all gateways that nothing disturbs. (`unsureUntilMs` allows for the others too.)
   */
  readonly toldFromMs: number
}

/** One gateway's part of the hard limit. */
export interface GatewayShare {
  readonly gateway: string
  readonly count: number
  /** The `want` that has no answer yet. */
  readonly want?: {
    readonly count: number
    /** Whether the other gateways were asked for it. */
    readonly asked: boolean
    /** When it is answered even if not all of them have answered. */
    readonly untilMs: number
  }
  /** Whether the gateway was asked for what it can spare, and has not answered yet. */
  readonly asked: boolean
  /** Set while the gateway is lost that closed its connection: the share is kept until this time. */
  readonly keptUntilMs?: number
}

export interface IdlePeriod {
  readonly epoch: number
  readonly sinceMs: number
  readonly tellAtMs: number
  /** How many packets peers had sent when the period began, if the host can tell. */
  readonly peerPackets?: number
}

export interface WakeFailure {
  readonly count: number
  readonly failure: HostFailure
  readonly message: string
  readonly retryAtMs: number
}

export type HostLeaseEvent =
  // From a gateway.
  | {
      readonly kind: 'open'
      readonly gateway: string
      readonly epoch: number
      readonly ports: readonly number[]
      readonly limit?: number
      readonly patient?: true
    }
  | { readonly kind: 'withdraw'; readonly gateway: string; readonly epoch: number }
  | {
      readonly kind: 'returned'
      readonly gateway: string
      readonly epoch: number
      readonly quietMs: number
      readonly gave?: ShareChange
    }
  | ({ readonly kind: 'want'; readonly gateway: string } & HeldShare)
  | ({ readonly kind: 'gave'; readonly gateway: string } & ShareChange)
  /** The gateway is connected (again), and says what it holds of this instance. */
  | {
      readonly kind: 'hello'
      readonly gateway: string
      readonly held?: { readonly boot: number; readonly epoch: number }
      readonly share?: HeldShare
    }
  /** `closed`: the gateway itself has closed its connection. */
  | {
      readonly kind: 'lost'
      readonly gateway: string
      readonly keptUntilMs: number
      readonly closed?: boolean
    }
  | { readonly kind: 'drained'; readonly gateway: string; readonly boot: number }
  // From the guest and its network.
  | { readonly kind: 'disabled'; readonly boot: number; readonly disabled: boolean }
  /** A peer sends to the sleeping instance. The network reports it once, until the watch begins again. */
  | { readonly kind: 'peers' }
  /** How many packets peers had sent when that idle period began. */
  | { readonly kind: 'peer-packets'; readonly epoch: number; readonly count: number }
  // From the workflow.
  | ({ readonly kind: 'stand-by'; readonly peerPackets?: number } & StandByOrder)
  | { readonly kind: 'drain'; readonly boot: number }
  | { readonly kind: 'drain-cancelled'; readonly boot: number }
  | { readonly kind: 'stop'; readonly boot: number }
  | { readonly kind: 'remove' }
  /** The sleeping instance moves: nothing wakes it until it is released, or started. */
  | { readonly kind: 'hold' }
  | { readonly kind: 'release' }
  /**
   * Another host has the instance, with its memory, from now on. Gateways are not told: what they have there
   * goes on at that host.
   */
  | { readonly kind: 'moved' }
  // From the work on the VM.
  | { readonly kind: 'start'; readonly boot: number }
  | {
      readonly kind: 'started'
      readonly boot: number
      readonly start: StartKind
      readonly settings: ScaleToZero
      readonly listens: boolean
    }
  /** Scale-to-zero of the instance was changed. */
  | { readonly kind: 'settings'; readonly settings: ScaleToZero }
  | {
      readonly kind: 'start-failed'
      readonly boot: number
      readonly failure: HostFailure
      readonly message: string
    }
  | { readonly kind: 'listened'; readonly boot: number }
  | { readonly kind: 'slept'; readonly boot: number; readonly memoryKept: boolean }
  | { readonly kind: 'stayed-awake'; readonly boot: number; readonly reason: StandByRefusal }
  | { readonly kind: 'exited'; readonly boot: number }
  /** A stop is done: there is no VM and no permit. */
  | { readonly kind: 'stopped'; readonly boot: number }
  | { readonly kind: 'tick' }

export type HostLeaseEffect =
  | {
      readonly kind: 'opened'
      readonly gateway: string
      readonly epoch: number
      readonly ports: readonly number[]
      readonly boot: number
      readonly memoryBoot: number
      readonly returnAfterMs?: number
      readonly quietConnectionsSleep: boolean
      readonly share?: number
      readonly woken?: { readonly kind: StartKind; readonly wakeUs: number }
    }
  | ({ readonly kind: 'share' | 'spare'; readonly gateway: string } & ShareChange)
  | ({ readonly kind: 'refused'; readonly gateway: string; readonly epoch: number } & OpenRefusal)
  | {
      readonly kind: 'tell-gateway'
      readonly gateway: string
      readonly word: 'drain' | 'undrain' | 'close' | 'gone'
      readonly boot: number
    }
  /** The gateway is to give its lease back, as soon as nothing is in flight or this time is over. */
  | {
      readonly kind: 'tell-rest'
      readonly gateway: string
      readonly boot: number
      readonly withinMs: number
    }
  /** How the gateway is to keep its lease of that boot from now on. */
  | ({ readonly kind: 'tell-settings'; readonly gateway: string; readonly boot: number } & LeaseTerms)
  /** Bring this boot up by the permit. */
  | { readonly kind: 'wake'; readonly boot: number }
  /** Carry the order out; `slept` or `stayed-awake` follows. */
  | { readonly kind: 'sleep'; readonly order: StandByOrder }
  /** Somebody waits: the application has only `hurriedGraceMs` left to shut down. */
  | { readonly kind: 'hurry'; readonly boot: number }
  | {
      readonly kind: 'answer-stand-by'
      readonly boot: number
      readonly permit: number
      readonly refused?: StandByRefusal
    }
  | { readonly kind: 'answer-drain'; readonly boot: number }
  /** An idle period began: read how many packets peers have sent, for the event `peer-packets`. */
  | { readonly kind: 'count-peers'; readonly epoch: number }
  | { readonly kind: 'tell-idle'; readonly boot: number; readonly epoch: number; readonly sinceMs: number }
  | { readonly kind: 'tell-disabled'; readonly boot: number; readonly disabled: boolean }
  | ({ readonly kind: 'tell-wake-failed'; readonly boot: number } & WakeFailure)

/** The state of an instance of which the host knows nothing. */
export const noHostLease: HostLeaseState = {
  phase: LeasePhase.None,
  boot: 0,
  memoryBoot: 0,
  settings: noScaleToZero,
  leases: [],
  disabled: false,
  quietFromMs: 0,
  touched: false,
  unsureUntilMs: 0,
  lastEpoch: 0,
  hurried: false,
  drainAnswered: false,
  hardLimit: 0,
  shares: [],
  toldFromMs: 0,
}
