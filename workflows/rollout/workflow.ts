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
import type { RolloutNext } from '../../activities/rollout/activities.ts'
import type { RolloutSettings, StoryLine } from '../../src/domain/rollout/settings.ts'
import { stateAttribute } from '../search-attributes.ts'
import { rolloutCalls } from './calls.ts'
import { lookAgainSignal } from './messages.ts'

/** The most lines of the story that the Web UI shows. */
const longestStory = 50

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
    const atMs = Date.now()
    story = [...story, ...next.done.map((what) => ({ atMs, what }))].slice(-longestStory)
    setCurrentDetails(details(settings, next, story))
    if (next.phase !== shown) upsertSearchAttributes([{ key: stateAttribute, value: next.phase }])
    shown = next.phase
    if (next.waitMs === undefined) return
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof rollout>({ ...settings, story })
    await condition(() => hasNews, next.waitMs)
  }
}

function details(
  { serviceName }: RolloutSettings,
  { phase, now }: RolloutNext,
  story: readonly StoryLine[],
): string {
  const lines = story.map(({ atMs, what }) => `- ${new Date(atMs).toISOString()}: ${what}`)
  return [`**${phase}**: the rollout of ${serviceName}: ${now}`, '', ...lines].join('\n')
}
