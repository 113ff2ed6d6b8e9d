import type { Timers } from './service-observer.ts'

export interface WatchCallDeps {
  readonly listServices: () => Promise<readonly string[]>
  /** Resolves with true if the service had such a watch. */
  readonly callIn: (serviceUuid: string) => Promise<boolean>
  readonly timers: Timers
  /** Ends the calls when it is aborted. */
  readonly signal: AbortSignal
}

/**
 * How many watches are called in at a time. Each takes a few calls to Temporal; more at once would delay the
 * calls of others.
 */
const callsAtOnce = 4
/** The pause before the next try while the database or Temporal is away. */
const retryMs = 1_000

/**
 * Calls in the watches that began before this worker: those of a worker that was killed. Temporal then gives
 * them to a new worker at once. Resolves with their number once each service was tried, or when `signal` is
 * aborted. What fails is tried again. Temporal gives out a watch that was overlooked when its heartbeats are
 * missed.
 */
export async function callInWatches(deps: WatchCallDeps): Promise<number> {
  const { signal } = deps
  let waiting: string[] | undefined
  let called = 0
  const lane = async (uuids: string[]): Promise<void> => {
    for (let uuid = uuids.shift(); uuid !== undefined && !signal.aborted; uuid = uuids.shift()) {
      try {
        if (await deps.callIn(uuid)) called += 1
      } catch (error) {
        // The service goes to the end of the list, so that one that always fails does not keep the others
        // waiting.
        uuids.push(uuid)
        throw error
      }
    }
  }
  while (!signal.aborted) {
    try {
      const uuids = (waiting ??= [...(await deps.listServices())])
      const lanes = await Promise.allSettled(Array.from({ length: callsAtOnce }, () => lane(uuids)))
      if (lanes.every(({ status }) => status === 'fulfilled')) break
    } catch {
      // The database is away.
    }
    await pause(deps)
  }
  return called
}

async function pause({ timers, signal }: WatchCallDeps): Promise<void> {
  await new Promise<void>((resolve) => {
    const callOff = timers.after(retryMs, resolve)
    signal.addEventListener(
      'abort',
      () => {
        callOff()
        resolve()
      },
      { once: true },
    )
  })
}
