import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow'
import type { RetryPolicy } from '@temporalio/common'
import type { AutoscaleActivities } from '../../activities/autoscale/activities.ts'
import type { AutoscaleLifeEvent, AutoscaleWork } from '../../src/domain/autoscale/life.ts'
import { autoscaleTaskQueue } from '../../src/domain/autoscale/settings.ts'
import type { WorkCalls } from '../entity-worker.ts'

/**
 * A worker that hangs, or is gone for good, is noticed after this: heartbeats of thousands of watches would
 * else be all that Temporal does. One that was killed is not waited for: whoever starts in its place calls
 * its watches in.
 */
const watchHeartbeatTimeoutMs = 120_000
/**
 * A watch lasts until there is something to do. One that is cut off by this begins again, without an entry in
 * the history.
 */
const longestWatchMs = 7 * 86_400_000
/** A worker that was killed while it changed something is noticed after this. */
const heartbeatTimeoutMs = 10_000
/**
 * Transactions of milliseconds, one for each instance, and as many calls. What is cut off by this goes on
 * where it was.
 */
const longestChangeMs = 120_000

/** For ever: a database may be away for as long as it likes. Attempts leave nothing in the history. */
const forEver: RetryPolicy = { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '10s' }

interface Service {
  readonly serviceUuid: string
}

/** A failure means nothing to the life: all of its work has to be done all the same. */
export function autoscaleCalls({ serviceUuid }: Service): WorkCalls<AutoscaleWork, AutoscaleLifeEvent> {
  return {
    perform: async (work) => [await perform(work, { serviceUuid })],
    eventOfFailure: () => undefined,
    // A watch that is to look for another size is another one.
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

/** It only looks: called off, nobody waits for it to be over. */
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
 * Called off, it is over when the worker let go of it: nothing else is done to the instances of the service
 * before.
 */
function change(summary: string): AutoscaleActivities {
  return proxyActivities<AutoscaleActivities>({
    // Not where steps of certificates wait for authorities.
    taskQueue: autoscaleTaskQueue,
    startToCloseTimeout: longestChangeMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: forEver,
    summary,
  })
}
