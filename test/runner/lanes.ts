import { availableParallelism } from 'node:os'
import process from 'node:process'
import type { GroupKind } from './groups.ts'

/** How many groups of each kind run side by side. */
export type Lanes = Readonly<Record<GroupKind, number>>

export interface Room {
  readonly processors: number
  readonly memoryBytes: number
  /** Whether each test group that acts as a host can have a network namespace of its own. */
  readonly namespaces: boolean
}

const mostBusy = 2
/**
 * The most groups of the waiting kind that run side by side, where there are as many processors. On two
 * processors, three groups with VMs and stacks had 8 to 13 processes that wanted to run, and tests came near
 * their time limits.
 */
const mostWaiting = 3
/**
 * The memory that each waiting group needs. A group with a stack, its VMs and the tests' own servers takes
 * up to 3 GiB; the rest is a reserve.
 */
const bytesPerWaiting = 4 * 1024 ** 3

export function planLanes({ processors, memoryBytes, namespaces }: Room): Lanes {
  const fitting = Math.max(1, Math.floor(memoryBytes / bytesPerWaiting))
  return {
    busy: Math.min(mostBusy, processors),
    waiting: namespaces ? Math.min(mostWaiting, processors, fitting) : 1,
    alone: 1,
  }
}

export function roomNow(): Omit<Room, 'namespaces'> {
  return { processors: availableParallelism(), memoryBytes: process.availableMemory() }
}

/** Runs the groups in their order, each in the next free lane. */
export async function runInLanes<Group>(
  groups: readonly Group[],
  { lanes, runOne }: { readonly lanes: number; readonly runOne: (group: Group) => Promise<void> },
): Promise<void> {
  const waiting = [...groups]
  const lane = async () => {
    for (let group = waiting.shift(); group; group = waiting.shift()) await runOne(group)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
