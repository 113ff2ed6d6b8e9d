import type { StandByOrder } from '../../src/domain/standby/host-lease-state.ts'
import { sleepsThroughConnections } from '../../src/domain/standby/scale-to-zero.ts'
import type { Trip } from './flights.ts'
import type { SimVm } from './machine.ts'
import type { WatchedParts } from './watched-parts.ts'

/** The longest time that the reading of a counter takes. */
const countingMs = 10

/** Checks a moment at which a VM begins to sleep: nothing that needs it is in flight. */
export function checkStandingBy(vm: SimVm, parts: WatchedParts): void {
  const { clients, settings, host, world } = parts
  const order = orderOf(parts)
  checkPeers(vm, order, parts)
  for (const trip of clients.underWay) {
    const { admission } = trip
    if (admission === undefined || !trip.gateway.alive || trip.givenUp) continue
    const keeps = trip.kind === 'request' || !sleepsThroughConnections(settings) || trip.inFlight
    const isIts = trip.kind === 'request' ? admission.boot === vm.boot : admission.memoryBoot === vm.memory
    if (!keeps || !isIts) continue
    if (order?.drainMs !== undefined && mayBeHeldUp(trip, order, parts)) continue
    trip.givenUp = host.hasGivenUp(trip.gateway.id, trip.admittedMs)
    if (!trip.givenUp)
      world.fail(`boot ${vm.boot} goes to standby while ${trip.kind} ${trip.id} is in flight`)
  }
}

function orderOf({ host, instanceUuid }: WatchedParts): StandByOrder | undefined {
  return host.agent?.core.entries.get(instanceUuid)?.hostLease.order
}

/**
 * The rule: If a user asked for standby, requests in flight have their time to end. What is left waits for
 * the wake, and its gateway holds no lease. A gateway that gave its lease back for an earlier order, and was
 * not connected all the time since this one, may not know that it should have the lease again. Then this
 * order's time does not count for its requests. They lose nothing by that, because the memory is kept.
 */
function mayBeHeldUp({ kind, gateway }: Trip, order: StandByOrder, { host, world }: WatchedParts): boolean {
  if (gateway.heldBoot !== undefined) return false
  const orderedMs = host.orderedMs(order.epoch)
  const isDisturbed = (gateway.line?.disturbedUntilMs ?? Infinity) >= orderedMs
  return kind === 'connection' || isDisturbed || world.nowMs >= orderedMs + (order.drainMs ?? 0)
}

/**
 * The rule: An instance does not go to standby if a peer sent something in the idle period. The number of an
 * idle period is the time at which it began. The host reads the counter of peers' packets soon after that,
 * and again when the order comes. A user's order is for no idle period.
 */
function checkPeers(vm: SimVm, order: StandByOrder | undefined, { host, world }: WatchedParts): void {
  if (order === undefined || order.epoch === 0 || order.drainMs !== undefined) return
  const { lastPeerMs } = host
  if (lastPeerMs > order.epoch + countingMs && lastPeerMs < host.orderedMs(order.epoch)) {
    world.fail(
      `boot ${vm.boot} goes to standby although a peer sent something ${world.nowMs - lastPeerMs} ms ago`,
    )
  }
}
