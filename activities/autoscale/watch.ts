import { ApplicationFailure, Context } from '@temporalio/activity'
import { ObserverClosed } from './service-observer.ts'
import type { ServiceObserver } from './service-observer.ts'
import type { AutoscaleActivities } from './activities.ts'

/**
 * How soon another worker takes over the watch of a worker that stops. The retry policy has longer waits,
 * which are meant for trouble.
 */
const takenOverAfter = '100ms'

/**
 * The watch over one service. Its heartbeats are `AutoscaleView`s. It ends at once when its workflow cancels
 * it. When the worker stops, the observer is closed and the watch fails, so that Temporal gives it to
 * another worker. If the worker reported the watch as cancelled, which only the workflow may do, no worker
 * would get it until its heartbeats are missed.
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
