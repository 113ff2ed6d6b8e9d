import { ApplicationFailure, Context } from '@temporalio/activity'
import { ObserverClosed } from './service-observer.ts'
import type { ServiceObserver } from './service-observer.ts'
import type { AutoscaleActivities } from './activities.ts'

/**
 * Whoever takes a watch over from a worker that stops begins so soon: the waits of the retry policy are for
 * trouble.
 */
const takenOverAfter = '100ms'

/**
 * The watch over one service; its heartbeats are `AutoscaleView`s. Ends at once when it is cancelled, and
 * fails when the observer is closed: a worker that stops may not call it cancelled, which only the workflow
 * may, and would keep it from the next one until the heartbeats are missed.
 */
export function createWatchActivity(deps: {
  readonly observer: ServiceObserver
}): Pick<AutoscaleActivities, 'watchService'> {
  return {
    watchService: async (input) => {
      const context = Context.current()
      try {
        return await deps.observer.watch(input, {
          signal: context.cancellationSignal,
          onView: (view) => context.heartbeat(view),
        })
      } catch (error) {
        if (!(error instanceof ObserverClosed)) throw error
        throw ApplicationFailure.create({
          type: error.name,
          message: 'the watch is handed over',
          nextRetryDelay: takenOverAfter,
        })
      }
    },
  }
}
