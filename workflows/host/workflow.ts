import {
  CancellationScope,
  condition,
  continueAsNew,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow'
import type { HostTold } from '../../src/domain/host/loss.ts'
import { continuedStory, storyText } from '../../src/domain/story.ts'
import type { StoryLine } from '../../src/domain/story.ts'
import { stateAttribute } from '../search-attributes.ts'
import { hostLossCalls } from './calls.ts'
import { lookAtHostSignal } from './messages.ts'

/** What the workflow of a host is started with, and continues with. Plain JSON without secrets. */
export interface HostSettings extends HostTold {
  readonly hostId: string
  readonly story?: readonly StoryLine[]
}

/**
 * Leads what follows when a host is not heard, or is to be emptied: looks at it again and again until there
 * is nothing to do.
 * The row has everything, and `decideHost` says what is to be done. A cancellation from outside changes
 * nothing: instances would wait for a host that does not come back.
 */
export async function host(settings: HostSettings): Promise<void> {
  await CancellationScope.nonCancellable(() => follow(settings))
}

async function follow({ hostId, ...before }: HostSettings): Promise<void> {
  let hasNews = false
  let shown = ''
  let { told, drain, story = [] } = before
  const known = (): HostTold => ({ ...(told && { told }), ...(drain && { drain }) })
  setHandler(lookAtHostSignal, () => void (hasNews = true), {
    description: 'Its row has changed: look at it now',
  })
  setDefaultSignalHandler(() => undefined)
  for (;;) {
    hasNews = false
    const next = await hostLossCalls.continueHost({ hostId, atMs: Date.now(), ...known() })
    ;({ told, drain } = next)
    story = continuedStory(story, next.done, Date.now())
    setCurrentDetails(storyText(`**${next.phase}**: host ${hostId}: ${next.now}`, story))
    if (next.phase !== shown) upsertSearchAttributes([{ key: stateAttribute, value: next.phase }])
    shown = next.phase
    // A signal that came meanwhile may tell of a loss or a drain that this look did not see.
    if (next.waitMs === undefined && !hasNews) return
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof host>({ hostId, story, ...known() })
    if (next.waitMs !== undefined && next.waitMs > 0) await condition(() => hasNews, next.waitMs)
  }
}
