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
import { mostWaitingNews } from '../src/domain/event/news.ts'
import type { News } from '../src/domain/event/news.ts'
import { deleteSignal, lifeQueryName, refreshSignal } from './entity-messages.ts'
import { stateAttribute } from './search-attributes.ts'

/**
 * The loop of all entities: `runEntity` leads one life as long as its row exists. Messages, time and
 * finished work become events of the life. After each event the loop compares the work that the life wants
 * with the work under way. An entity's own file says only what is particular to the entity.
 */
export interface EntityLife<Life, Event> {
  /** The life at the beginning of this run. */
  readonly life: Life
  /** The next life. A pure function; undefined if the event is refused. */
  readonly decide: (life: Life, event: Event | DeleteEvent, nowMs: number) => Life | undefined
  /**
   * What users are told about a decision. A pure function. It may tell something only if readers see a
   * change, because the news are written with the row. Absent: nothing is told.
   */
  readonly newsOf?: (before: Life, event: Event | DeleteEvent, after: Life) => readonly News[]
  /** The news that the run before this one had not written yet. */
  readonly news?: readonly News[]
  /**
   * Sets the handlers of the entity's own messages and says what its loop does. Handlers are synchronous, so
   * none is ever unfinished when a run ends.
   */
  readonly define: (loop: EntityLoop<Life, Event>) => Entity<Life, Event>
}

/** The one event that every life takes. */
interface DeleteEvent {
  readonly kind: 'delete'
}

/** What handlers and finished work share with the loop. */
export interface EntityLoop<Life, Event> {
  readonly life: Life
  /** Whether a new run is to begin when nothing is under way. */
  readonly newRunWanted: boolean
  /** The news that are not written yet, oldest first. */
  readonly news: readonly News[]
  /** Returns the news, which from then on count as written. */
  takeNews(): readonly News[]
  /** Feeds an event to the life. False if the life refused it. */
  say(event: Event | DeleteEvent): boolean
  /** Wakes the loop because something outside the life has changed. */
  lookAgain(): void
}

export interface Entity<Life, Event> {
  /**
   * The first event. The life gets it after all messages that came with the start. If a deletion was among
   * them, the life can refuse to begin anything.
   */
  readonly begin?: Event
  /** The parts of the loop. After each change they look at the life in this order. */
  readonly parts: readonly LoopPart<Life>[]
  /** Whether the life is over and everything is finished that has to be finished before the row goes. */
  readonly isOver: (life: Life) => boolean
  /** Continues as new, and so never returns. Called while nothing is under way. */
  readonly nextRun: (life: Life) => Promise<never>
  /** The state by which people find the entity in Temporal's Web UI. */
  readonly stateOf: (life: Life) => string
  /** The text that the Web UI shows for the entity. */
  readonly details: (life: Life) => string
  /**
   * The event that comes by time alone, and when. Absent if only messages and finished work change the life.
   */
  readonly due?: (life: Life) => DueEvent<Event>
  /** The workflow's last action. */
  readonly deleteRow?: () => Promise<void>
}

/**
 * One part of a loop, such as a worker or a recorder. It compares the life with the work that it has under
 * way.
 */
export interface LoopPart<Life> {
  /** Begins what is wanted and not under way yet, and calls off what is not wanted any more. */
  follow(life: Life): void
  readonly busy: boolean
}

export interface DueEvent<Event> {
  /** When the event is due. Undefined: nothing is due. */
  readonly atMs: number | undefined
  /** The summary of the timer, for people. */
  readonly summary: string
  readonly event: Event
}

/**
 * Leads a life to its end, or to the next run. A cancellation from outside changes nothing: an entity ends
 * only when it is deleted.
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
    // Nothing waits between this read of the life and the end of the loop or of the run, so no message is
    // lost. Only `deleteRow` waits; messages have no effect by then, because the life is over.
    if (entity.isOver(life)) break
    if (loop.newRunWanted && !entity.parts.some(({ busy }) => busy)) await entity.nextRun(life)
    for (const part of entity.parts) part.follow(life)
    const state = entity.stateOf(life)
    if (state !== shownState) upsertSearchAttributes([{ key: stateAttribute, value: state }])
    shownState = state
    setCurrentDetails(entity.details(life))
    await untilChanged(loop, entity.due?.(life))
  }
  await entity.deleteRow?.()
}

interface RunningLoop<Life, Event> extends EntityLoop<Life, Event> {
  /** Whether anything has changed since the loop last read the life. */
  changed: boolean
  refreshWanted: boolean
}

function createLoop<Life, Event>(of: EntityLife<Life, Event>): RunningLoop<Life, Event> {
  const { decide, newsOf } = of
  let present = of.life
  let news = of.news ?? []
  return {
    changed: true,
    refreshWanted: false,
    get life() {
      return present
    },
    get newRunWanted() {
      return this.refreshWanted || workflowInfo().continueAsNewSuggested
    },
    get news() {
      return news
    },
    takeNews() {
      const taken = news
      news = []
      return taken
    },
    say(event) {
      const atMs = Date.now()
      const next = decide(present, event, atMs)
      if (next !== undefined && newsOf !== undefined) {
        const told = newsOf(present, event, next).map((one) => ({ atMs, ...one }))
        news = [...news, ...told].slice(-mostWaitingNews)
      }
      present = next ?? present
      this.changed = true
      return next !== undefined
    },
    lookAgain() {
      this.changed = true
    },
  }
}

/**
 * Sets the handlers that every entity has. It has to be called after all other handlers are set, because it
 * makes the workflow ignore all signals that have no handler.
 */
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

/** Resolves when something has changed, or after the life got the event that was due. */
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
