import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow'
import type { EntityLoop, LoopPart } from './entity.ts'
import { isNodeAway } from './host-calls.ts'

/** The activities by which the work of one entity is done. */
export interface WorkCalls<Work, Event> {
  /** Runs one activity and returns the events for the life. Throws the activity's failure. */
  readonly perform: (work: Work, nodeAway: boolean) => Promise<readonly Event[]>
  /** The event that a failure means to the life. Undefined if the work has to be done in any case. */
  readonly eventOfFailure: (work: Work, error: unknown) => Event | undefined
  /**
   * The name of a piece of work. It is also its identity: two pieces of work with the same name are never
   * under way at once.
   */
  readonly nameOf: (work: Work) => string
}

/** Carries out the work that a life wants, by calls of activities. */
export interface EntityWorker<Life> extends LoopPart<Life> {
  /** Whether the host took no work when it was last asked. */
  readonly nodeAway: boolean
}

export interface EntityWorkerOptions<Life, Work, Event> extends WorkCalls<Work, Event> {
  readonly workOf: (life: Life) => Work | undefined
  /**
   * Whether work that is under way goes on beside the work that is wanted now. If not, the old work is
   * called off, and the new work does not wait for its end. If this function is absent, there is one piece
   * of work at a time: work that is not wanted any more is called off, and the next begins when it has
   * ended.
   */
  readonly goesOn?: (underWay: Work, wanted: Work | undefined) => boolean
  readonly nodeAway?: boolean
  /**
   * Where the work of the life is done. When that becomes another place, everything that is under way is
   * called off. Absent: it never does.
   */
  readonly placeOf?: (life: Life) => string
}

/**
 * The pause before work is done again whose failure is no event for the life. Such a failure is a defect.
 */
const unexpectedPauseMs = 10_000

export function createEntityWorker<Life, Work, Event>(
  loop: EntityLoop<Life, Event>,
  of: EntityWorkerOptions<Life, Work, Event>,
): EntityWorker<Life> {
  const underWay = new Map<string, { readonly scope: CancellationScope; readonly work: Work }>()
  let nodeAway = of.nodeAway ?? false
  let place = of.placeOf?.(loop.life)

  async function carryOut(work: Work): Promise<void> {
    try {
      const events = await of.perform(work, nodeAway)
      nodeAway = false
      for (const event of events) loop.say(event)
    } catch (error) {
      if (isCancellation(error)) return
      nodeAway = isNodeAway(error)
      if (nodeAway) return
      const event = of.eventOfFailure(work, error)
      if (event === undefined) await pause(of.nameOf(work))
      else loop.say(event)
    }
  }

  async function launch(name: string, work: Work): Promise<void> {
    const scope = new CancellationScope()
    underWay.set(name, { scope, work })
    await scope.run(() => carryOut(work))
    underWay.delete(name)
    loop.lookAgain()
  }

  return {
    follow(life) {
      const work = of.workOf(life)
      const hasMoved = place !== of.placeOf?.(life)
      if (hasMoved) nodeAway = false
      place = of.placeOf?.(life)
      const name = work === undefined ? undefined : of.nameOf(work)
      for (const [known, one] of underWay) {
        const goesOn = of.goesOn?.(one.work, work) ?? known === name
        if (!goesOn || hasMoved) one.scope.cancel()
      }
      if (work === undefined || name === undefined || underWay.has(name)) return
      if (of.goesOn !== undefined || underWay.size === 0) void launch(name, work)
    },
    get busy() {
      return underWay.size > 0
    },
    get nodeAway() {
      return nodeAway
    },
  }
}

/** Pauses. Ends early if the work is called off. */
async function pause(name: string): Promise<void> {
  try {
    await sleep(unexpectedPauseMs, { summary: `${name} failed; again after this` })
  } catch (error) {
    if (!isCancellation(error)) throw error
  }
}
