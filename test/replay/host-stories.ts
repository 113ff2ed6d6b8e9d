import { randomUUID } from 'node:crypto'
import type { HostLossActivities, HostNext } from '../../activities/host/activities.ts'
import { createHostControl } from '../../src/control/temporal-host-control.ts'
import { HostPhase } from '../../src/domain/host/loss.ts'
import type { LossTold } from '../../src/domain/host/loss.ts'
import { hostWorkflowId } from '../../workflows/host/messages.ts'
import { runWorkers } from '../support/temporal.ts'
import { until } from '../support/until.ts'
import type { Story } from './story.ts'

const soon = { limitMs: 30_000 }
const longMs = 600_000

/**
 * Plays one absence of a host. The answers of its calls come in turn, and the last one ends it. Where an
 * answer waits for long, the workflow is told to look again.
 */
function story(answers: readonly HostNext[]): Story {
  return async (env) => {
    let calls = 0
    const control: HostLossActivities = {
      async continueHost() {
        calls += 1
        return answers[calls - 1]!
      },
    }
    const workers = await runWorkers(env, { control })
    const hosts = createHostControl(env.client)
    const hostId = `h-${randomUUID()}`
    const id = hostWorkflowId(hostId)
    await hosts.ensureStarted(hostId)
    for (const [index, { waitMs }] of answers.entries()) {
      await until(`look ${index + 1} is over`, () => calls > index, soon)
      if (waitMs === longMs) await hosts.lookAgain(hostId)
    }
    await env.client.workflow.getHandle(id).result()
    return { id, end: () => workers.stop() }
  }
}

const { Heard, Silent, Lost } = HostPhase
const told: LossTold = { loss: 1, moving: 2, round: { isOfAll: true, after: { rank: 0, uuid: 'u' } } }

/** The absences of hosts that are recorded. */
export const hostStories: Readonly<Record<string, Story>> = {
  'host-lost-and-back': story([
    { phase: Silent, waitMs: 20, now: 'not heard', done: [] },
    { phase: Lost, waitMs: 0, now: 'lost', done: ['it counts as lost'], told },
    { phase: Lost, waitMs: 10, now: 'lost', done: [], told: { loss: 1, moving: 2, atMs: 5, allAtMs: 5 } },
    { phase: Lost, waitMs: longMs, now: 'lost', done: [], told: { loss: 1, moving: 2, atMs: 5, allAtMs: 5 } },
    { phase: Heard, now: 'it is heard', done: [] },
  ]),
  'host-heard-in-time': story([
    { phase: Silent, waitMs: 20, now: 'not heard', done: [] },
    { phase: Heard, now: 'it is heard', done: [] },
  ]),
}
