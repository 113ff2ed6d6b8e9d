import { hostAwayAfterMs, leaseValidMs } from '../standby/lease-protocol.ts'

/**
 * How long a host has been silent, as a gateway sees it, and what follows. There are three signs: a message
 * on the host's line, a refused connection, and an attempt to connect that got no answer.
 *
 * A refused connection means that the machine is there and no agent listens on it. Only an agent can send an
 * instance to standby or stop it. A new agent sends nothing to standby for `leaseKeptMs`, and first asks its
 * gateways which leases they hold. So leases stay valid for as long as the agent's port refuses, provided
 * that there is no gap of `leaseValidMs` without a message or a refusal: in such a gap an agent may have
 * run, heard nothing of this gateway, and dropped its leases.
 */
export interface HostSigns {
  /** When its last message came, or when the gateway first looked for it. */
  readonly heardMs: number
  /** The time of the last refused connection, provided that no such gap was before it. */
  readonly refusedMs: number
  /** When the machine last answered anything at all. */
  readonly reachedMs: number
  /** Whether an attempt to connect got no answer since `reachedMs`. */
  readonly missed: boolean
}

export const HostSilence = {
  /** Leases are valid, and new traffic waits until the host's line is back. */
  None: 'none',
  /** No agent has listened for a long time. Leases are still valid, but new traffic should not wait. */
  Down: 'down',
  /** Leases are no longer valid. New traffic waits for a moment. */
  Silent: 'silent',
  /** Leases are no longer valid. New traffic should not wait. */
  Away: 'away',
  /** The machine does not answer either: requests and connections in flight are lost. */
  Unreachable: 'unreachable',
} as const
export type HostSilence = (typeof HostSilence)[keyof typeof HostSilence]
/**
 * The kinds of silence that are reported to listeners. `None` is not among them: the host's next message
 * ends every trouble.
 */
export type HostTrouble = Exclude<HostSilence, typeof HostSilence.None>

/**
 * A host that is silent for this long is away. New traffic thus waits for it for 2 s at most: its line may
 * only have stalled.
 */
export const silentHostAwayMs = leaseValidMs + 2_000
/**
 * How long a machine may answer no attempt to connect before it counts as unreachable. By then it has lost
 * its connections too, or the network to it has failed.
 */
export const unreachableAfterMs = 10_000
/**
 * How long instances on a host without an agent are served. An agent that does not start is mended within
 * that time, or somebody knows of it. Until then nobody looks after these instances, and what their users ask
 * for does not reach them.
 */
export const servedWithoutAgentMs = 600_000

/** The signs after a message, and when the gateway first looks for the host. */
export function heardNow(nowMs: number): HostSigns {
  return { heardMs: nowMs, refusedMs: -Infinity, reachedMs: nowMs, missed: false }
}

/**
 * The machine accepted a connection. That says nothing about its agent: the kernel accepts connections for an
 * agent that hangs.
 */
export function reached(signs: HostSigns, nowMs: number): HostSigns {
  return { ...signs, reachedMs: nowMs, missed: false }
}

export function refused(signs: HostSigns, nowMs: number): HostSigns {
  const silence = silenceOf(signs, nowMs)
  const isWithoutGap = silence === HostSilence.None || silence === HostSilence.Down
  return { ...reached(signs, nowMs), ...(isWithoutGap ? { refusedMs: nowMs } : {}) }
}

export function missed(signs: HostSigns): HostSigns {
  return { ...signs, missed: true }
}

export function silenceOf(signs: HostSigns, nowMs: number): HostSilence {
  const unheardMs = nowMs - signs.heardMs
  const serves = unheardMs < servedWithoutAgentMs
  const unsureMs = nowMs - (serves ? Math.max(signs.heardMs, signs.refusedMs) : signs.heardMs)
  if (unsureMs < leaseValidMs) return unheardMs < hostAwayAfterMs ? HostSilence.None : HostSilence.Down
  if (signs.missed && nowMs - signs.reachedMs >= unreachableAfterMs) return HostSilence.Unreachable
  return unsureMs < silentHostAwayMs && unheardMs < hostAwayAfterMs ? HostSilence.Silent : HostSilence.Away
}

const worse: readonly HostTrouble[] = [HostSilence.Silent, HostSilence.Away, HostSilence.Unreachable]

function rankOf(silence: HostSilence): number {
  return worse.findIndex((each) => each === silence)
}

/**
 * Returns the next trouble to report to listeners, if the last one they heard of was `told`; undefined if
 * there is nothing to report. Trouble is reported one step at a time. So a gateway that was itself held up
 * can read, between two looks, the messages that arrived meanwhile.
 */
export function nextTrouble(told: HostSilence, now: HostSilence): HostTrouble | undefined {
  if (now === HostSilence.Down) return told === HostSilence.None ? now : undefined
  return rankOf(now) > rankOf(told) ? worse[rankOf(told) + 1] : undefined
}
