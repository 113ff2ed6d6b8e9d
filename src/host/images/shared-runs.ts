import { createUserSlots } from './user-slots.ts'

/**
 * Runs a job once per key however many ask for it meanwhile, and at most `limit` jobs at a time, shared
 * fairly between the users who ask (`user-slots.ts`). Whoever asks may give up alone. A job that has begun
 * goes on without them, for whoever asks next: until it ends, or until nobody has asked for `unattendedMs`.
 * What still waits for its turn then is not begun.
 */
export interface SharedRuns<T> {
  run(
    wanted: { readonly key: string; readonly user: string },
    job: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /** Aborts every job and resolves when all have ended; from then on there are none. */
  close(): Promise<void>
}

interface Run<T> {
  readonly result: Promise<T>
  readonly abort: AbortController
  /**
   * Who asked for it before it began. One who gave up still counts: it is begun for the others when his turn
   * comes.
   */
  readonly users: Set<string>
  readonly hasBegun: () => boolean
  waiting: number
  /** Runs while nobody waits; then the job is aborted. */
  unattended?: NodeJS.Timeout
}

export function createSharedRuns<T>(options: {
  readonly limit: number
  readonly unattendedMs: number
}): SharedRuns<T> {
  const { limit, unattendedMs } = options
  const runs = new Map<string, Run<T>>()
  /** With those that were aborted and have not ended yet. */
  const unended = new Set<Run<T>>()
  const slots = createUserSlots(limit)
  let isClosed = false

  function begin(key: string, user: string, job: (signal: AbortSignal) => Promise<T>): Run<T> {
    const abort = new AbortController()
    const users = new Set([user])
    let hasBegun = false
    async function inTurn(): Promise<T> {
      const slot = await slots.take(users, abort.signal)
      try {
        abort.signal.throwIfAborted()
        hasBegun = true
        return await job(abort.signal)
      } finally {
        slot.release()
      }
    }
    const run: Run<T> = { result: inTurn(), abort, users, hasBegun: () => hasBegun, waiting: 0 }
    const forget = () => {
      clearTimeout(run.unattended)
      unended.delete(run)
      if (runs.get(key) === run) runs.delete(key)
    }
    runs.set(key, run)
    unended.add(run)
    // Also the end of the failure of one that nobody waits for: whoever asks next tries again, and hears of
    // it then.
    run.result.then(forget, forget)
    return run
  }

  function leave(run: Run<T>): void {
    run.waiting--
    if (run.waiting > 0 || !unended.has(run)) return
    if (!run.hasBegun()) return run.abort.abort()
    run.unattended = setTimeout(() => run.abort.abort(), unattendedMs).unref()
  }

  return {
    async run({ key, user }, job, signal) {
      signal?.throwIfAborted()
      if (isClosed) throw new Error(`nothing is begun any more, and '${key}' neither`)
      const known = runs.get(key)
      const run = known && !known.abort.signal.aborted ? known : begin(key, user, job)
      run.waiting++
      clearTimeout(run.unattended)
      if (!run.users.has(user)) {
        run.users.add(user)
        slots.review()
      }
      try {
        return await orAborted(run.result, signal)
      } finally {
        leave(run)
      }
    },
    async close() {
      isClosed = true
      const ending = [...unended]
      for (const { abort } of ending) abort.abort()
      await Promise.allSettled(ending.map(({ result }) => result))
    },
  }
}

async function orAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await result
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([result, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
