import type { Timers } from './service-observer.ts'

export interface WatchCallDeps {
  readonly listServices: () => Promise<readonly string[]>
  /** Lists the identities of the workers that run. */
  readonly listWorkers: () => Promise<ReadonlySet<string>>
  /**
   * Calls in the watch of one service, if none of the `living` workers has it. Resolves with whether there
   * was such a watch.
   */
  readonly callIn: (serviceUuid: string, living: ReadonlySet<string>) => Promise<boolean>
  readonly timers: Timers
  /** Ends the calls when it is aborted. */
  readonly signal: AbortSignal
}

/**
 * How many watches are called in at a time. Each needs a few calls to Temporal; more at a time would delay
 * the calls of others.
 */
const callsAtOnce = 4
/** The pause before the next try while the database or Temporal is away. */
const retryMs = 1_000

/**
 * Calls in the watches of workers that are gone, because they were perhaps killed: Temporal then gives them
 * to a living worker at once. What fails is tried again. Resolves with the number of watches that were
 * called in, when all services are done or `signal` is aborted. If a watch is missed, Temporal gives it to
 * another worker when its heartbeats have stopped for 120 s.
 */
export async function callInWatches(deps: WatchCallDeps): Promise<number> {
  const { signal } = deps
  let waiting: string[] | undefined
  let living: ReadonlySet<string> = new Set()
  let called = 0
  const lane = async (uuids: string[]): Promise<void> => {
    for (let uuid = uuids.shift(); uuid !== undefined && !signal.aborted; uuid = uuids.shift()) {
      try {
        if (await deps.callIn(uuid, living)) called += 1
      } catch (error) {
        // The service goes to the end of the list. So a service whose call always fails does not keep the
        // others waiting.
        uuids.push(uuid)
        throw error
      }
    }
  }
  while (!signal.aborted) {
    try {
      living = await deps.listWorkers()
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
