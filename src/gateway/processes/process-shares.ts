import { defaultBalanceLimits } from '../balance/balance-limits.ts'
import type { BalanceLimits } from '../balance/balance-limits.ts'
import { connectionsFor, defaultClientLimits, heldLimits } from '../clients/client-limits.ts'
import type { ClientLimits } from '../clients/client-limits.ts'

/** What all serving processes together may use. */
export interface GatewayRoom {
  readonly processes: number
  readonly connectionsPerSource: number
  /** Undefined: as many as the open files permit. */
  readonly connections: number | undefined
  readonly heldBytes: number
  /** The files that one process may open. The kernel counts them for each process. */
  readonly openFilesPerProcess: number
}

/**
 * One process's share of the bounds of clients. Shares are rounded up, so that none is zero. The kernel
 * gives connections to the processes by chance, so one of them may reach its share a bit earlier than the
 * others.
 */
export function clientShare(room: GatewayRoom): Partial<ClientLimits> {
  const { processes } = room
  const wanted = room.connections ?? defaultClientLimits.connections
  const connections = share(wanted, processes)
  return {
    connectionsPerSource: share(room.connectionsPerSource, processes),
    connections:
      room.connections === undefined
        ? Math.min(connections, connectionsFor(room.openFilesPerProcess))
        : connections,
    ...heldLimits(share(room.heldBytes, processes)),
  }
}

/** One process's share of what may wait for instances. */
export function queueShare(processes: number): Partial<BalanceLimits> {
  const { maxQueued, maxQueuedPerService } = defaultBalanceLimits
  return {
    maxQueued: share(maxQueued, processes),
    maxQueuedPerService: share(maxQueuedPerService, processes),
  }
}

function share(whole: number, processes: number): number {
  return Math.ceil(whole / processes)
}
