import type { Headers, WorkflowInterceptors } from '@temporalio/workflow'

/** The header of `src/control/temporal-traces.ts`. */
const placeHeader = 'traceparent'
/**
 * How long activities count as caused by the last message with a place in a trace. A restart of an instance
 * days later does not belong to the request that created it.
 */
const causeKeptMs = 60_000

/**
 * Hands the place in a trace of the last message on to the activities. Headers are no part of what a replay
 * compares, so histories from before this replay unchanged.
 */
export function interceptors(): WorkflowInterceptors {
  let cause: { readonly place: Headers[string]; readonly untilMs: number } | undefined
  const note = (headers: Headers): void => {
    const place = headers[placeHeader]
    if (place !== undefined) cause = { place, untilMs: Date.now() + causeKeptMs }
  }
  const withPlace = <T extends { readonly headers: Headers }>(input: T): T =>
    cause === undefined || cause.untilMs < Date.now()
      ? input
      : { ...input, headers: { ...input.headers, [placeHeader]: cause.place } }
  return {
    inbound: [
      {
        execute: (input, next) => {
          note(input.headers)
          return next(input)
        },
        handleSignal: (input, next) => {
          note(input.headers)
          return next(input)
        },
        handleUpdate: (input, next) => {
          note(input.headers)
          return next(input)
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withPlace(input)),
        scheduleLocalActivity: (input, next) => next(withPlace(input)),
      },
    ],
  }
}
