import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow'
import type { RetryPolicy } from '@temporalio/common'
import type { AutoscaleActivities } from '../../activities/autoscale/activities.ts'
import type { AutoscaleLifeEvent, AutoscaleWork } from '../../src/domain/autoscale/life.ts'
import { autoscaleTaskQueue } from '../../src/domain/autoscale/settings.ts'
import type { WorkCalls } from '../entity-worker.ts'

/**
 * After this time without a heartbeat of a watch, its worker counts as hung or gone for good. The time is
 * long because the heartbeats of thousands of watches would otherwise keep Temporal busy all the time. After
 * a worker was killed nobody waits that long: another worker notices it and makes Temporal give out the
 * watches of the killed one again (`callInWatches`).
 */
const watchHeartbeatTimeoutMs = 120_000
/**
 * The longest watch. A watch lasts until there is something to do. If this limit cuts it off, it begins
 * again, without an entry in the history.
 */
const longestWatchMs = 7 * 86_400_000
/**
 * After this time without a heartbeat of a change, Temporal assumes that the worker was killed, and gives
 * the change to another worker.
 */
const heartbeatTimeoutMs = 10_000
/**
 * The longest alignment or closing. Each takes a transaction of milliseconds and a call for each instance.
 * If this limit cuts one off, the next attempt does what is left.
 */
const longestChangeMs = 120_000

/**
 * Attempts are repeated for ever, because a database may be away for any time. Failed attempts add nothing
 * to the history of the workflow.
 */
const forEver: RetryPolicy = { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s' }

interface Service {
  readonly serviceUuid: string
}

/**
 * The activities that do the work of the workflow. A failure is no event for the life, because each kind of
 * work has to be done in any case.
 */
export function autoscaleCalls({ serviceUuid }: Service): WorkCalls<AutoscaleWork, AutoscaleLifeEvent> {
  return {
    perform: async (work) => [await perform(work, { serviceUuid })],
    eventOfFailure: () => undefined,
    // A watch with another input, such as another target, is another piece of work.
    nameOf: ({ kind, ...rest }) => ('input' in rest ? `${kind} ${JSON.stringify(rest.input)}` : kind),
  }
}

async function perform(work: AutoscaleWork, of: Service): Promise<AutoscaleLifeEvent> {
  switch (work.kind) {
    case 'watch':
      return { kind: 'watched', outcome: await watch({ ...of, ...work.input }) }
    case 'align':
      return { kind: 'aligned', result: await align(work).alignService({ ...of, ...work.input }) }
    case 'close':
      break
  }
  const { closed } = await change('give all clones back').closeAutoscale(of)
  return { kind: 'closed', closed }
}

/** A watch only looks. So when it is called off, nobody waits for its end. */
function watch(
  input: Parameters<AutoscaleActivities['watchService']>[0],
): ReturnType<AutoscaleActivities['watchService']> {
  const { watchService } = proxyActivities<AutoscaleActivities>({
    taskQueue: autoscaleTaskQueue,
    startToCloseTimeout: longestWatchMs,
    heartbeatTimeout: watchHeartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: forEver,
    summary: input.target === undefined ? 'look at it' : `look at it, ${input.target} wanted`,
  })
  return watchService(input)
}

function align({ input }: Extract<AutoscaleWork, { readonly kind: 'align' }>): AutoscaleActivities {
  const size = input.target === undefined ? 'as many as there are' : String(input.target)
  return change(`make it ${size} (${input.cause.kind})${input.mayAdd ? '' : ', adding none'}`)
}

/**
 * When a change is called off, it is over only when the worker has ended it. Until then no other change to
 * the service's instances begins.
 */
function change(summary: string): AutoscaleActivities {
  return proxyActivities<AutoscaleActivities>({
    // Changes do not go through the queue `control`: steps of certificates wait there for authorities, for
    // minutes.
    taskQueue: autoscaleTaskQueue,
    startToCloseTimeout: longestChangeMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: forEver,
    summary,
  })
}
