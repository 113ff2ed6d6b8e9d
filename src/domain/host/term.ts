/**
 * The term of a host: how long it may keep its VMs without an answer of the API. Each answered heartbeat
 * renews it, from the moment when the heartbeat was sent. At its end the host has ended all its VMs by
 * itself. The control plane takes a host for lost only after the term and a margin, so no instance ever has
 * two VMs, unless an administrator knew better and removed the host before.
 *
 * Both sides count durations of their own monotonic clocks. The host's goes on while the machine is suspended
 * (`CLOCK_BOOTTIME`); that of the control plane need not, because then it only waits longer.
 */

/** The term if no setting names another one. */
export const defaultTermMs = 60_000
/** The longest and the shortest term that a host may tell. They are those that the setting permits. */
export const termBoundsMs = { shortest: 10_000, longest: 86_400_000 }

/**
 * How much longer than a usual term the control plane waits. It is for a heartbeat that PostgreSQL lost in a
 * crash, for the moment that a VM takes to end, and for clocks that do not run equally fast.
 */
const leastMarginMs = 4_000
/** The clocks of two machines differ by less than a thousandth. A longer term has room for twice that. */
const driftShare = 1 / 500

/** For how long the control plane does not hear a host with this term until it takes the host for lost. */
export function lostAfterMs(termMs: number): number {
  return termMs + leastMarginMs + Math.ceil(Math.max(0, termMs - defaultTermMs) * driftShare)
}

/**
 * The term that hosts are told, by the setting. Undefined: none, so no host ends its VMs, or is taken for
 * lost.
 */
export function toldTermMs({
  hostLossS,
  hostsAddress,
}: {
  readonly hostLossS?: number | 'off' | undefined
  readonly hostsAddress?: object | undefined
}): number | undefined {
  if (hostLossS === 'off') return undefined
  if (hostLossS !== undefined) return hostLossS * 1_000
  return hostsAddress === undefined ? undefined : defaultTermMs
}

/** What an instance's workflow is told when its host is lost. A repeat changes nothing. */
export interface HostLoss {
  readonly nodeId: string
  /** How often this host was lost. */
  readonly loss: number
  /** When the host was declared lost. Unless an administrator removed it, all its VMs had ended by then. */
  readonly atMs: number
  /** Whether the instance has to stay on this host, because its volume is there. */
  readonly stays: boolean
}
