import type { Timers } from './service-observer.ts'

export interface WatchCallDeps {
  readonly listServices: () => Promise<readonly string[]>
  /** True where there was a watch to be called in. */
  readonly callIn: (serviceUuid: string) => Promise<boolean>
  readonly timers: Timers
  /** Ends the calling. */
  readonly signal: AbortSignal
}

/** A few calls to Temporal each; more at once would keep those waiting who want something of it now. */
const callsAtOnce = 4
/** Until the database, or Temporal, is there again. */
const retryMs = 1_000

/**
 * Calls the watches in that were begun before this worker: those of one that was killed. Resolves with how
 * many there were, once each was asked for, or when it is ended. What fails is tried again; a watch that is
 * missed is given out when its heartbeats are.
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
        // Last: one that always fails keeps no other one waiting.
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
