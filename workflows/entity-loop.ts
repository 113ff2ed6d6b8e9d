import { condition, setDefaultSignalHandler, setHandler, workflowInfo } from '@temporalio/workflow'
import { refreshSignal } from './entity-messages.ts'

/** What an entity's handlers and finished work share with its one loop. */
export interface LoopState {
  /** The loop has something to look at. */
  changed: boolean
  refreshWanted: boolean
}

/**
 * The messages that all entities take: a wish for a new run; what nobody knows is passed over. Comes after
 * all other handlers.
 */
export function receiveTheRest(loop: LoopState): void {
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

export function wantsNewRun(loop: LoopState): boolean {
  return loop.refreshWanted || workflowInfo().continueAsNewSuggested
}

/** Resolves when there is something to look at, or with `onTick` called at `atMs`. */
export async function untilChanged(
  loop: LoopState,
  wake: { readonly atMs: number | undefined; readonly summary: string; readonly onTick: () => void },
): Promise<void> {
  const changed = (): boolean => loop.changed
  const { atMs, summary } = wake
  if (atMs === undefined) return condition(changed)
  const delayMs = atMs - Date.now()
  const early = delayMs > 0 && (await condition(changed, delayMs, { summary }))
  if (!early) wake.onTick()
}
