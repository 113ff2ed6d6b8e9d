import { hostAwayAfterMs, leaseValidMs } from '../standby/lease-protocol.ts'

/**
 * How long a host has been quiet, as its gateways see it, and what follows. Three things tell of it: words on
 * its line, a refused connection, and an attempt to connect that nobody answered.
 *
 * A refused connection means that the machine is there and no agent listens on it. Only an agent can send an
 * instance to standby or stop it, and a new one sends nothing to standby for `leaseKeptMs` and asks its
 * gateways first what they hold. So leases stand for as long as the agent's port refuses, provided that there
 * is no gap of `leaseValidMs` without a word or a refusal: in a gap an agent may have heard nothing of this
 * gateway, and given its leases up.
 */
export interface HostSigns {
  /** Its last word, or when it was first looked for. */
  readonly heardMs: number
  /** The last refused connection that came without such a gap. */
  readonly refusedMs: number
  /** When its machine last answered anything at all. */
  readonly reachedMs: number
  /** Since then an attempt to connect found nobody. */
  readonly missed: boolean
}

export const HostSilence = {
  /** Leases stand, and who is new waits for the line. */
  None: 'none',
  /** There has been no agent for long: leases stand, and nobody new should wait. */
  Down: 'down',
  /** Leases stand no more. Who is new waits for a moment. */
  Silent: 'silent',
  /** Nobody new should wait. */
  Away: 'away',
  /** Its machine is not there either: what is under way leads nowhere. */
  Unreachable: 'unreachable',
} as const
export type HostSilence = (typeof HostSilence)[keyof typeof HostSilence]
/** What is told of; a host is well again from its next word on. */
export type HostTrouble = Exclude<HostSilence, typeof HostSilence.None>

/** Who comes to a silent host waits for 2 s at most: its line may only have stalled. */
export const silentHostAwayMs = leaseValidMs + 2_000
/** A machine that answers no attempt for this long has lost its connections too, or the network to it has. */
export const unreachableAfterMs = 10_000
/**
 * What runs without an agent is served for so long: an agent that does not start is mended within that, or
 * somebody knows of it. Nobody looks after such an instance, and what its user asks for does not reach it.
 */
export const servedWithoutAgentMs = 600_000

/** From a word on, and when the host is first looked for. */
export function heardNow(nowMs: number): HostSigns {
  return { heardMs: nowMs, refusedMs: -Infinity, reachedMs: nowMs, missed: false }
}

/**
 * It accepted a connection, which says nothing of its agent: the system's kernel accepts for one that hangs.
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
 * What to say next to those who were told `told` so far; undefined: nothing. One step at a time: a gateway
 * that was itself held up reads between two looks what has come meanwhile.
 */
export function nextTrouble(told: HostSilence, now: HostSilence): HostTrouble | undefined {
  if (now === HostSilence.Down) return told === HostSilence.None ? now : undefined
  return rankOf(now) > rankOf(told) ? worse[rankOf(told) + 1] : undefined
}
