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
import type { RolloutSettings } from '../../src/domain/rollout/settings.ts'
import { continuedStory, storyText } from '../../src/domain/story.ts'
import { stateAttribute } from '../search-attributes.ts'
import { rolloutCalls } from './calls.ts'
import { lookAgainSignal } from './messages.ts'

/**
 * A rollout: looks at it again and again until it is over. The row has everything, and `decideRollout` says
 * what is to be done. A cancellation from outside changes nothing: it would leave the traffic divided.
 */
export async function rollout(settings: RolloutSettings): Promise<void> {
  await CancellationScope.nonCancellable(() => follow(settings))
}

async function follow(settings: RolloutSettings): Promise<void> {
  let hasNews = false
  let shown = ''
  let story = settings.story ?? []
  setHandler(lookAgainSignal, () => void (hasNews = true), {
    description: 'Its row has changed: look at it now',
  })
  setDefaultSignalHandler(() => undefined)
  for (;;) {
    hasNews = false
    const next = await rolloutCalls.continueRollout(settings.rolloutUuid)
    story = continuedStory(story, next.done, Date.now())
    const now = `**${next.phase}**: the rollout of ${settings.serviceName}: ${next.now}`
    setCurrentDetails(storyText(now, story))
    if (next.phase !== shown) upsertSearchAttributes([{ key: stateAttribute, value: next.phase }])
    shown = next.phase
    if (next.waitMs === undefined) return
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof rollout>({ ...settings, story })
    await condition(() => hasNews, next.waitMs)
  }
}
