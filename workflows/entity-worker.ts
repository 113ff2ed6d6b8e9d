import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow'
import type { EntityLoop, LoopPart } from './entity.ts'
import { isNodeAway } from './host-calls.ts'

/** The activities by which the work of one entity is done. */
export interface WorkCalls<Work, Event> {
  /** One activity, and what it tells the life. Throws what the activity failed with. */
  readonly perform: (work: Work, nodeAway: boolean) => Promise<readonly Event[]>
  /** What a failure means to the life; undefined where the work has to be done all the same. */
  readonly eventOfFailure: (work: Work, error: unknown) => Event | undefined
  /** Also the identity of work: there is never a second one of a name under way. */
  readonly nameOf: (work: Work) => string
}

/** Carries out the work that a life wants, by activities. */
export interface EntityWorker<Life> extends LoopPart<Life> {
  /** The host took no work when it was last asked. */
  readonly nodeAway: boolean
}

export interface EntityWorkerOptions<Life, Work, Event> extends WorkCalls<Work, Event> {
  readonly workOf: (life: Life) => Work | undefined
  /**
   * Whether what is under way goes on beside what is wanted now; what does not is called off, and new work
   * does not wait for it. Absent: there is one piece of work at a time, which begins when the one before has
   * let go.
   */
  readonly goesOn?: (underWay: Work, wanted: Work | undefined) => boolean
  readonly nodeAway?: boolean
}

/** A failure that has no meaning to a life, of work that has to be done all the same: a defect. */
const unexpectedPauseMs = 10_000

export function createEntityWorker<Life, Work, Event>(
  loop: EntityLoop<Life, Event>,
  of: EntityWorkerOptions<Life, Work, Event>,
): EntityWorker<Life> {
  const underWay = new Map<string, { readonly scope: CancellationScope; readonly work: Work }>()
  let nodeAway = of.nodeAway ?? false

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
    align(life) {
      const work = of.workOf(life)
      const name = work === undefined ? undefined : of.nameOf(work)
      for (const [known, one] of underWay) {
        const goesOn = of.goesOn?.(one.work, work) ?? known === name
        if (!goesOn) one.scope.cancel()
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

/** Ends early where the work is called off. */
async function pause(name: string): Promise<void> {
  try {
    await sleep(unexpectedPauseMs, { summary: `${name} failed; again after this` })
  } catch (error) {
    if (!isCancellation(error)) throw error
  }
}
