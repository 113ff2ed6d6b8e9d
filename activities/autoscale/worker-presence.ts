import type { Timers } from './service-observer.ts'

/** How often a worker says that it runs. */
export const beatMs = 2_000
/**
 * A worker that was not heard for this long is gone: three beats of it are missing. So its watches are called
 * in at most 8 s after its death. If it only hung, another worker has its watches, and nothing is lost.
 */
export const silentMs = 6_000

export interface PresenceDeps {
  /** Notes that this worker runs. */
  readonly renew: () => Promise<void>
  /** Forgets the workers that were silent for `silentMs`. Resolves with their number. */
  readonly forgetSilent: (silentMs: number) => Promise<number>
  /** Notes that this worker has stopped. */
  readonly leave: () => Promise<void>
  /** Called after the first beat, and whenever workers are gone: their watches have to be called in. */
  readonly callIn: () => void
  readonly nowMs: () => number
  readonly timers: Timers
}

/**
 * Tells the other workers that this one runs, and notices which of them are gone. While the database is away,
 * nobody can tell. So for `silentMs` after that no worker counts as gone: each gets the time to be heard
 * again. Returns the function that ends it.
 */
export function keepPresence(deps: PresenceDeps): () => Promise<void> {
  const { nowMs, timers } = deps
  let hasBegun = false
  let hasEnded = false
  let beatenMs = nowMs()
  /** Since when every beat was in time. A worker that begins takes the rows as they are. */
  let steadyMs = Number.NEGATIVE_INFINITY
  let callOff: (() => void) | undefined
  let beating: Promise<void> = Promise.resolve()

  const beat = async (): Promise<void> => {
    try {
      await deps.renew()
      if (nowMs() - beatenMs > silentMs / 2) steadyMs = nowMs()
      beatenMs = nowMs()
      const gone = nowMs() - steadyMs < silentMs ? 0 : await deps.forgetSilent(silentMs)
      if (!hasBegun || gone > 0) deps.callIn()
      hasBegun = true
    } catch {
      // The database is away. The next beat tries again.
    }
    if (!hasEnded) callOff = timers.after(beatMs, begin)
  }
  const begin = (): void => {
    beating = beat()
  }
  begin()
  return async () => {
    hasEnded = true
    callOff?.()
    await beating
    // If the row stays, another worker forgets it.
    await deps.leave().catch(() => undefined)
  }
}
