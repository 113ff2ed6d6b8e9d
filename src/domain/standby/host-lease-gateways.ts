import type { Context, Moves } from './host-lease-move.ts'
import { LeasePhase } from './host-lease-phase.ts'
import type { HostLeaseEvent, HostLeaseState, Lease } from './host-lease-state.ts'
import { noteHeld, noteLost, takeBack } from './host-shares.ts'
import { touched } from './host-lease-settlement.ts'
import { leaseKeptMs } from './lease-protocol.ts'

/**
 * The largest number of gateways that a host serves. Further ones are refused, because each costs the host
 * memory for every instance that it asks for.
 */
export const maxGateways = 256

/** The phases in which a lease of the present boot is valid. */
const standing: ReadonlySet<LeasePhase> = new Set([
  LeasePhase.Running,
  LeasePhase.Draining,
  LeasePhase.Stopping,
])
/** The phases in which the host can answer an `open` at once. */
const answering: ReadonlySet<LeasePhase> = new Set([
  LeasePhase.None,
  LeasePhase.Running,
  LeasePhase.Draining,
  LeasePhase.Stopping,
])

/**
 * The moves for messages of gateways. They only note facts; `settle` then decides who is opened or refused,
 * and whether to wake.
 */
export const gatewayMoves: Moves<'open' | 'withdraw' | 'returned' | 'hello' | 'lost' | 'drained'> = {
  open(state, { gateway, epoch, ports, limit, patient }, { nowMs }) {
    const before = find(state, gateway)
    if (before !== undefined && before.epoch > epoch) return state
    // A repeated `open` has waited since it was first sent.
    const repeated = before?.epoch === epoch && before.status === 'waiting'
    const heldEpoch = before?.status === 'held' ? before.epoch : before?.heldEpoch
    return put(state, {
      gateway,
      epoch,
      ports,
      status: 'waiting',
      ...(heldEpoch === undefined ? {} : { heldEpoch }),
      ...(patient === true ? { patient } : {}),
      boot: before?.boot ?? 0,
      askedAtMs: repeated ? before.askedAtMs : nowMs,
      waited: (repeated && before.waited) || !answering.has(state.phase),
      drained: before?.drained ?? false,
      ...(limit === undefined ? {} : { limit }),
    })
  },

  // The instance comes up all the same, and the lease is opened. The gateway then gives it back, as nobody
  // waits for it.
  withdraw: (state) => state,

  returned(before, { gateway, epoch, quietMs, gave }, { nowMs }) {
    const state = takeBack(before, gateway, gave)
    const lease = find(state, gateway)
    if (lease?.status === 'waiting' && lease.heldEpoch === epoch) {
      const { heldEpoch: _given, ...waiting } = lease
      return put(state, waiting)
    }
    if (lease?.status !== 'held' || lease.epoch !== epoch) return state
    const quietFromMs = Math.max(state.quietFromMs, nowMs - Math.max(0, quietMs))
    return { ...put(state, { ...lease, status: 'returned' }), quietFromMs }
  },

  hello(state, { gateway, held, share }, context) {
    const joined = join(state, { gateway, held, share }, context)
    return noteHeld(joined, gateway, share)
  },

  lost(state, { gateway, keptUntilMs, closed }, context) {
    const lease = find(state, gateway)
    if (lease === undefined) return state
    return noteLost(
      put(state, { ...leftOf(lease, { closed }), keptUntilMs }),
      { gateway, ...(closed === undefined ? {} : { closed }) },
      context,
    )
  },

  drained(state, { gateway, boot }) {
    const lease = find(state, gateway)
    if (state.phase !== LeasePhase.Draining || boot !== state.boot || lease === undefined) return state
    return put(state, { ...lease, status: 'returned', drained: true })
  },
}

/**
 * What stays of a lease whose gateway is lost. A gateway that waits can not be answered; it asks again later.
 * If it waits for a wake that it does not cause, it has something in flight. Its lease then counts from that
 * wake on, or the instance would sleep again in the middle of it.
 */
function leftOf(lease: Lease, { closed = false }: { readonly closed?: boolean | undefined }): Lease {
  const { heldEpoch, patient, ...known } = lease
  if (lease.status !== 'waiting') return known
  if (heldEpoch !== undefined) return { ...known, epoch: heldEpoch, status: 'held' }
  return patient === true && !closed ? { ...known, patient } : { ...known, status: 'returned' }
}

/** Notes what a gateway that has connected again holds of the instance. */
function join(
  state: HostLeaseState,
  { gateway, held, share }: Omit<Extract<HostLeaseEvent, { kind: 'hello' }>, 'kind'>,
  context: Context,
): HostLeaseState {
  const before = find(state, gateway)
  if (held === undefined) {
    if (before !== undefined) return rejoin(state, before, context)
    // The gateway has quiet connections from an earlier lease, and this agent is new.
    const quiet = { gateway, epoch: 0, ports: [], boot: state.boot, askedAtMs: context.nowMs, waited: false }
    if (share?.memoryBoot !== state.memoryBoot) return state
    retell(state, gateway, context)
    return put(state, { ...quiet, status: 'returned', drained: false })
  }
  const stands = standing.has(state.phase) || state.restUntilMs !== undefined
  if (held.boot !== state.boot || !stands) {
    context.effects.push({ kind: 'tell-gateway', gateway, word: 'gone', boot: held.boot })
    return { ...state, leases: state.leases.filter((lease) => lease !== before) }
  }
  retell(state, gateway, context)
  const {
    keptUntilMs: _found,
    heldEpoch: _past,
    patient: _asked,
    ...known
  } = before ?? { ports: [], askedAtMs: context.nowMs, waited: false }
  const lease = { ...known, gateway, epoch: held.epoch, boot: held.boot, drained: false }
  return touched(put(state, { ...lease, status: 'held' }), context)
}

/**
 * Notes that a gateway holds no lease here, although the host may have a lease for it. The gateway had
 * returned that lease, but its message was lost with the connection.
 */
function rejoin(state: HostLeaseState, lease: Lease, context: Context): HostLeaseState {
  retell(state, lease.gateway, context)
  const { keptUntilMs: _found, heldEpoch: _past, patient: _asked, ...known } = lease
  const rejoined = put(state, { ...known, status: 'returned' })
  if (lease.status !== 'held') return rejoined
  return { ...touched(rejoined, context), quietFromMs: Math.max(state.quietFromMs, context.nowMs) }
}

/** Repeats what the gateway may have missed while it was away. */
function retell(state: HostLeaseState, gateway: string, { effects, nowMs }: Context): void {
  const { boot } = state
  const withinMs = restWithinMs(state, nowMs)
  if (withinMs !== undefined) effects.push({ kind: 'tell-rest', gateway, boot, withinMs })
  if (state.phase === LeasePhase.Draining)
    effects.push({ kind: 'tell-gateway', gateway, word: 'drain', boot })
  if (state.phase === LeasePhase.Stopping)
    effects.push({ kind: 'tell-gateway', gateway, word: 'close', boot })
}

function find(state: HostLeaseState, gateway: string): Lease | undefined {
  return state.leases.find((lease) => lease.gateway === gateway)
}

function put(state: HostLeaseState, lease: Lease): HostLeaseState {
  const others = state.leases.filter(({ gateway }) => gateway !== lease.gateway)
  return { ...state, leases: [...others, lease] }
}

/** Sends a message to every gateway that has, or had, a lease of the present memory. */
export function tellAll(
  state: HostLeaseState,
  word: 'drain' | 'undrain' | 'close',
  { effects }: Context,
): void {
  for (const { gateway, boot } of state.leases) {
    if (boot !== 0) effects.push({ kind: 'tell-gateway', gateway, word, boot: state.boot })
  }
}

/** Asks for every lease, so that the VM can sleep. */
export function askForLeases(state: HostLeaseState, { effects, nowMs }: Context): void {
  const withinMs = restWithinMs(state, nowMs) ?? 0
  for (const { gateway, boot } of state.leases) {
    if (boot !== 0) effects.push({ kind: 'tell-rest', gateway, boot: state.boot, withinMs })
  }
}

function restWithinMs({ restUntilMs }: HostLeaseState, nowMs: number): number | undefined {
  return restUntilMs === undefined ? undefined : Math.max(0, restUntilMs - leaseKeptMs - nowMs)
}

/**
 * Ends all leases, because the memory has ended: connections to it are lost. Gateways that wait continue to
 * wait.
 */
export function voidLeases(state: HostLeaseState, { effects }: Context): HostLeaseState {
  const leases = state.leases.flatMap((lease): readonly Lease[] => {
    if (lease.boot !== 0) {
      effects.push({ kind: 'tell-gateway', gateway: lease.gateway, word: 'gone', boot: lease.boot })
    }
    const { heldEpoch: _void, ...known } = lease
    return lease.status === 'waiting' ? [{ ...known, boot: 0 }] : []
  })
  return { ...state, leases, memoryBoot: 0, shares: [] }
}
