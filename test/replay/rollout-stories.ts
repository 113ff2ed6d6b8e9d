import { randomUUID } from 'node:crypto'
import type { RolloutActivities, RolloutNext } from '../../activities/rollout/activities.ts'
import { createRolloutControl } from '../../src/control/temporal-rollout-control.ts'
import { RolloutPhase } from '../../src/domain/rollout/phase.ts'
import { rolloutWorkflowId } from '../../workflows/rollout/messages.ts'
import { runWorkers } from '../support/temporal.ts'
import { until } from '../support/until.ts'
import type { Story } from './story.ts'

const soon = { limitMs: 30_000 }
const longMs = 600_000

/**
 * Plays one rollout. The answers of its calls come in turn, and the last one ends it. Where an answer waits
 * for long, the workflow is told to look again.
 */
function story(answers: readonly RolloutNext[]): Story {
  return async (env) => {
    let calls = 0
    const control: RolloutActivities = {
      async continueRollout() {
        calls += 1
        return answers[calls - 1]!
      },
    }
    const workers = await runWorkers(env, { control })
    const rollouts = createRolloutControl(env.client)
    const rolloutUuid = randomUUID()
    const id = rolloutWorkflowId(rolloutUuid)
    await rollouts.ensureStarted({ rolloutUuid, serviceName: 'shop', userUuid: randomUUID() })
    for (const [index, { waitMs }] of answers.entries()) {
      await until(`look ${index + 1} is over`, () => calls > index, soon)
      if (waitMs === longMs) await rollouts.lookAgain(rolloutUuid)
    }
    await env.client.workflow.getHandle(id).result()
    return { id, end: () => workers.stop() }
  }
}

const { Preparing, Baking, Kept, Returning, Returned, Done } = RolloutPhase

function look(phase: RolloutPhase, waitMs: number, ...done: readonly string[]): RolloutNext {
  return { phase, waitMs, now: `it is ${phase}`, done }
}

/** The rollouts that are recorded. */
export const rolloutStories: Readonly<Record<string, Story>> = {
  'rolled-out': story([
    look(Preparing, 10),
    look(Preparing, 10),
    look(Baking, 20, 'gave 20 % of the traffic to the new version'),
    look(Baking, 20, 'found nothing wrong in step 1', 'gave 100 % of the traffic to the new version'),
    look(Kept, longMs, 'made the new version that of the service; the old one is kept'),
    { phase: Done, now: 'it is done', done: ['deleted the old version'] },
  ]),
  'rolled-back': story([
    look(Preparing, 10),
    look(Baking, 20, 'gave 100 % of the traffic to the new version'),
    look(Kept, longMs, 'made the new version that of the service; the old one is kept'),
    look(Returning, 20, 'began to go back: going back was asked for', 'asked the old version to start'),
    { phase: Returned, now: 'it is returned', done: ['gave all traffic to the old version'] },
  ]),
}
