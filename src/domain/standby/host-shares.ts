import type { GatewayShare, HostLeaseState } from './host-lease-state.ts'
import type { Context, Moves } from './host-lease-move.ts'
import { closedShareMs, shareWaitMs } from './lease-protocol.ts'
import type { HeldShare, ShareChange } from './lease-protocol.ts'

/**
 * How a host divides the hard limit of an instance among its gateways (`lease-protocol.ts`). The rule: the
 * shares together are never more than the hard limit, so the instance never has more in flight, whoever
 * counts. The host takes a share into its sum before it tells the gateway, and a gateway stops using what it
 * gives back before it tells the host.
 *
 * A gateway that is alone gets everything. A second one gets what the first does not use, when it asks. After
 * that both have some room, and ask only when they have used it up.
 *
 * A gateway that is lost keeps its share as long as its lease (`leaseKeptMs`): its requests may be under way.
 * If it closed its connection itself, its process has ended, unless it connects again soon (`closedShareMs`).
 * If a hard limit is lowered, each gateway lowers what it uses by itself.
 */
export const shareMoves: Moves<'want' | 'gave'> = {
  want(state, { gateway, memoryBoot, count, limit }, { nowMs }) {
    if (memoryBoot !== state.memoryBoot || !isLeaseholder(state, gateway)) return state
    const share = shareOf(state, gateway) ?? noShare(gateway)
    const untilMs = Math.max(nowMs, state.toldFromMs) + shareWaitMs
    return put({ ...state, hardLimit: limit }, { ...share, want: { count, asked: false, untilMs } })
  },

  gave(state, { gateway, ...change }) {
    const taken = takeBack(state, gateway, change)
    const share = shareOf(taken, gateway)
    return share === undefined ? taken : replace(taken, { ...share, asked: false })
  },
}

/** Notes what a gateway gave back. What it gave of an earlier memory ended with that memory. */
export function takeBack(
  state: HostLeaseState,
  gateway: string,
  change: ShareChange | undefined,
): HostLeaseState {
  const share = shareOf(state, gateway)
  if (change === undefined || share === undefined || change.memoryBoot !== state.memoryBoot) return state
  return replace(state, { ...share, count: Math.max(0, share.count - change.count) })
}

/** Notes the share that a gateway has, as it says when it has connected again. */
export function noteHeld(
  state: HostLeaseState,
  gateway: string,
  held: HeldShare | undefined,
): HostLeaseState {
  const shares = state.shares.filter((each) => each.gateway !== gateway)
  if (held === undefined || held.memoryBoot !== state.memoryBoot || !isLeaseholder(state, gateway))
    return { ...state, shares }
  return put({ ...state, hardLimit: held.limit, shares }, { gateway, count: held.count, asked: false })
}

/** Notes that nothing more comes from a gateway. */
export function noteLost(
  state: HostLeaseState,
  { gateway, closed = false }: { readonly gateway: string; readonly closed?: boolean },
  { nowMs }: Pick<Context, 'nowMs'>,
): HostLeaseState {
  const share = shareOf(state, gateway)
  if (share === undefined) return state
  const { want: _unheard, ...rest } = share
  return replace(state, { ...rest, asked: false, ...(closed ? { keptUntilMs: nowMs + closedShareMs } : {}) })
}

/** Opens the share of a gateway whose lease is opened. Returns by how much it grows. */
export function openShare(
  state: HostLeaseState,
  { gateway, limit }: { readonly gateway: string; readonly limit: number },
  { nowMs }: Pick<Context, 'nowMs'>,
): { readonly state: HostLeaseState; readonly more: number } {
  const limited = { ...state, hardLimit: limit }
  const share = shareOf(limited, gateway) ?? noShare(gateway)
  const more = share.count > 0 ? 0 : grantOf(limited, { gateway, count: 0 }, nowMs)
  return { state: put(limited, { ...share, count: share.count + more }), more }
}

/** Answers the gateways that want more, and asks the others for what they can spare. */
export function settleShares(before: HostLeaseState, { nowMs, effects }: Context): HostLeaseState {
  if (before.shares.length === 0) return before
  const isKept = ({ gateway, keptUntilMs = Infinity }: GatewayShare): boolean =>
    keptUntilMs > nowMs && isLeaseholder(before, gateway)
  let state = before
  if (!before.shares.every(isKept)) state = { ...before, shares: before.shares.filter(isKept) }
  const { memoryBoot } = state
  for (const { gateway } of state.shares.filter(({ want }) => want !== undefined)) {
    const { want, ...share } = shareOf(state, gateway) ?? noShare(gateway)
    if (want === undefined) continue
    const more = grantOf(state, { gateway, count: want.count }, nowMs)
    if (more === 0 && !want.asked && state.toldFromMs <= nowMs) {
      state = askOthers(state, { gateway, count: want.count }, effects)
      state = replace(state, { ...share, want: { ...want, asked: true } })
    }
    if (more === 0 && want.untilMs > nowMs && isUnsettled(state, gateway, nowMs)) continue
    effects.push({ kind: 'share', gateway, memoryBoot, count: more })
    state = replace(state, { ...share, count: share.count + more })
  }
  return state
}

/** When the next step is due, for each gateway that wants more and for each share that is kept. */
export function sharesDueMs({ shares, toldFromMs }: HostLeaseState): readonly number[] {
  return shares.flatMap(({ want, keptUntilMs }) => [
    ...(want === undefined ? [] : [want.asked ? want.untilMs : toldFromMs]),
    ...(keptUntilMs === undefined ? [] : [keptUntilMs]),
  ])
}

/** Asks the other gateways for what they can spare of their shares. */
function askOthers(
  before: HostLeaseState,
  { gateway, count }: { readonly gateway: string; readonly count: number },
  effects: Context['effects'],
): HostLeaseState {
  const { memoryBoot, shares } = before
  let state = before
  for (const other of shares) {
    const mayHave = other.gateway !== gateway && !other.asked && other.count > 0
    if (!mayHave || isLost(before, other.gateway)) continue
    effects.push({ kind: 'spare', gateway: other.gateway, memoryBoot, count })
    state = replace(state, { ...other, asked: true })
  }
  return state
}

/** Whether a gateway that gets nothing now may get something soon. */
function isUnsettled(state: HostLeaseState, gateway: string, nowMs: number): boolean {
  const mayFree = (each: GatewayShare): boolean => each.asked || each.keptUntilMs !== undefined
  return state.toldFromMs > nowMs || state.shares.some((each) => each.gateway !== gateway && mayFree(each))
}

/** How much a gateway gets. It leaves half for others, if there are any, but gets what it needs now. */
function grantOf(
  state: HostLeaseState,
  { gateway, count }: { readonly gateway: string; readonly count: number },
  nowMs: number,
): number {
  const { shares, hardLimit, leases } = state
  if (state.toldFromMs > nowMs) return 0
  const free = Math.max(0, hardLimit - shares.reduce((sum, share) => sum + share.count, 0))
  const hasOthers = leases.some(
    (lease) => lease.gateway !== gateway && lease.status !== 'returned' && lease.keptUntilMs === undefined,
  )
  return hasOthers ? Math.min(free, Math.max(count, Math.ceil(free / 2))) : free
}

function isLeaseholder({ leases }: HostLeaseState, gateway: string): boolean {
  return leases.some((lease) => lease.gateway === gateway)
}

/** Whether the gateway has no connection, so that it can not answer. */
function isLost({ leases }: HostLeaseState, gateway: string): boolean {
  return leases.some((lease) => lease.gateway === gateway && lease.keptUntilMs !== undefined)
}

function shareOf({ shares }: HostLeaseState, gateway: string): GatewayShare | undefined {
  return shares.find((each) => each.gateway === gateway)
}

function noShare(gateway: string): GatewayShare {
  return { gateway, count: 0, asked: false }
}

/** Puts a share behind the others: those that have waited longer are served first. */
function put(state: HostLeaseState, share: GatewayShare): HostLeaseState {
  const others = state.shares.filter(({ gateway }) => gateway !== share.gateway)
  return { ...state, shares: [...others, share] }
}

/** Changes a share where it is. */
function replace(state: HostLeaseState, share: GatewayShare): HostLeaseState {
  return { ...state, shares: state.shares.map((each) => (each.gateway === share.gateway ? share : each)) }
}
