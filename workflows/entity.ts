import {
  CancellationScope,
  condition,
  defineQuery,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow'
import { deleteSignal, lifeQueryName, refreshSignal } from './entity-messages.ts'
import { stateAttribute } from './search-attributes.ts'

/**
 * The runtime of all entities: `runEntity` leads one life for as long as its row exists. Messages, time and
 * finished work feed the life; one loop compares what the life wants with what is under way. An entity's own
 * file says only what is particular to it.
 */
export interface EntityLife<Life, Event> {
  /** The life at the beginning of this run. */
  readonly life: Life
  /** Pure; undefined where the event is refused. */
  readonly decide: (life: Life, event: Event | DeleteEvent, nowMs: number) => Life | undefined
  /**
   * Sets the handlers of the entity's own messages and says what its loop does. Handlers are synchronous, so
   * none is ever unfinished when a run ends.
   */
  readonly define: (loop: EntityLoop<Life, Event>) => Entity<Life, Event>
}

/** Every life knows its deletion. */
interface DeleteEvent {
  readonly kind: 'delete'
}

/** What handlers and finished work share with the loop. */
export interface EntityLoop<Life, Event> {
  readonly life: Life
  /** A new run is to begin when nothing is under way. */
  readonly newRunWanted: boolean
  /** Feeds the life. False: it refused the event. */
  say(event: Event | DeleteEvent): boolean
  /** Something that is no part of the life has changed. */
  lookAgain(): void
}

export interface Entity<Life, Event> {
  /**
   * Said once all messages that came with the start have been heard: after a deletion among them there is
   * nothing to begin.
   */
  readonly begin?: Event
  /** Aligned in this order, each time anything has changed. */
  readonly parts: readonly LoopPart<Life>[]
  /** Whether the life is over, and with it all that has to be finished before the row goes. */
  readonly isOver: (life: Life) => boolean
  /** Never returns: continues as new. Called while nothing is under way. */
  readonly nextRun: (life: Life) => Promise<never>
  /** By which the entity is found in Temporal's Web UI. */
  readonly stateOf: (life: Life) => string
  /** What the Web UI shows of it. */
  readonly details: (life: Life) => string
  /** What time brings; absent where only messages and finished work bring the life on. */
  readonly due?: (life: Life) => DueEvent<Event>
  /** The last thing that happens. */
  readonly deleteRow?: () => Promise<void>
}

/** One part of a loop, a worker or a recorder: it compares the life with what it has under way. */
export interface LoopPart<Life> {
  /** Begins what is wanted and not under way yet, and calls off what is not wanted any more. */
  align(life: Life): void
  readonly busy: boolean
}

export interface DueEvent<Event> {
  /** Undefined: nothing is due. */
  readonly atMs: number | undefined
  /** Of the timer, for people. */
  readonly summary: string
  readonly event: Event
}

/**
 * Leads a life to its end, or to the next run. A cancellation from outside changes nothing: an entity goes by
 * being deleted.
 */
export async function runEntity<Life, Event>(of: EntityLife<Life, Event>): Promise<void> {
  await CancellationScope.nonCancellable(() => live(of))
}

async function live<Life, Event>(of: EntityLife<Life, Event>): Promise<void> {
  const loop = createLoop(of)
  setHandler(deleteSignal, () => void loop.say({ kind: 'delete' }), {
    description: 'End it and remove all of it; its row is marked deleted, or gone',
  })
  const entity = of.define(loop)
  receiveTheRest(loop)
  if (entity.begin !== undefined) loop.say(entity.begin)

  let shownState = entity.stateOf(of.life)
  for (;;) {
    loop.changed = false
    const { life } = loop
    // Nothing is waited for between a look at the life and the end of its run: no message is lost.
    if (entity.isOver(life)) break
    if (loop.newRunWanted && !entity.parts.some(({ busy }) => busy)) await entity.nextRun(life)
    for (const part of entity.parts) part.align(life)
    const state = entity.stateOf(life)
    if (state !== shownState) upsertSearchAttributes([{ key: stateAttribute, value: state }])
    shownState = state
    setCurrentDetails(entity.details(life))
    await untilChanged(loop, entity.due?.(life))
  }
  await entity.deleteRow?.()
}

interface RunningLoop<Life, Event> extends EntityLoop<Life, Event> {
  /** The loop has something to look at. */
  changed: boolean
  refreshWanted: boolean
}

function createLoop<Life, Event>({ life, decide }: EntityLife<Life, Event>): RunningLoop<Life, Event> {
  let present = life
  return {
    changed: true,
    refreshWanted: false,
    get life() {
      return present
    },
    get newRunWanted() {
      return this.refreshWanted || workflowInfo().continueAsNewSuggested
    },
    say(event) {
      const next = decide(present, event, Date.now())
      present = next ?? present
      this.changed = true
      return next !== undefined
    },
    lookAgain() {
      this.changed = true
    },
  }
}

/** Comes after all other handlers: what nobody knows is passed over. */
function receiveTheRest<Life, Event>(loop: RunningLoop<Life, Event>): void {
  setHandler(defineQuery<Life>(lifeQueryName), () => loop.life, {
    description: 'All that is known of its life',
  })
  setHandler(
    refreshSignal,
    () => {
      loop.refreshWanted = true
      loop.changed = true
    },
    { description: 'Continue as new when nothing is under way' },
  )
  setDefaultSignalHandler(() => undefined)
}

/** Resolves when there is something to look at, or when what is due was said. */
async function untilChanged<Life, Event>(
  loop: RunningLoop<Life, Event>,
  due: DueEvent<Event> | undefined,
): Promise<void> {
  const changed = (): boolean => loop.changed
  if (due?.atMs === undefined) return condition(changed)
  const delayMs = due.atMs - Date.now()
  const early = delayMs > 0 && (await condition(changed, delayMs, { summary: due.summary }))
  if (!early) loop.say(due.event)
}
