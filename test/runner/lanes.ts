import { availableParallelism } from 'node:os'
import process from 'node:process'

/** How many groups run side by side. */
export interface Lanes {
  /** Of those that use a processor all the time. */
  readonly busy: number
  /** Of those that mostly wait. */
  readonly waiting: number
}

export interface Room {
  readonly processors: number
  readonly memoryBytes: number
  /** Groups that are hosts can be kept apart. */
  readonly namespaces: boolean
}

const mostBusy = 2
/**
 * Three groups of VMs and stacks keep two processors half busy; with a fourth their limits on time would be
 * tight.
 */
const mostWaiting = 3
/** A group with a stack, its VMs and the tests' own servers takes up to 3 GiB. */
const bytesPerWaiting = 4 * 1024 ** 3

export function planLanes({ processors, memoryBytes, namespaces }: Room): Lanes {
  const fitting = Math.max(1, Math.floor(memoryBytes / bytesPerWaiting))
  return {
    busy: Math.min(mostBusy, processors),
    waiting: processors > 1 && namespaces ? Math.min(mostWaiting, fitting) : 1,
  }
}

export function roomNow(): Omit<Room, 'namespaces'> {
  return { processors: availableParallelism(), memoryBytes: process.availableMemory() }
}

/** Takes one group after the other into the next free lane, in their order. */
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
