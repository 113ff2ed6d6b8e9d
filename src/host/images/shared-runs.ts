import { createUserSlots } from './user-slots.ts'

/**
 * Runs a job once per key, even if several callers ask for it meanwhile. At most `limit` jobs run at a time,
 * shared fairly between the users who ask (`user-slots.ts`). Each caller may stop waiting without ending the
 * job. A job that has begun then goes on for later callers, until it ends or nobody has asked for it for
 * `unattendedMs`. A job that has not begun is dropped when its last caller stops waiting.
 */
export interface SharedRuns<T> {
  run(
    wanted: { readonly key: string; readonly user: string },
    job: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /** Aborts every job and resolves when all have ended. No job begins afterwards. */
  close(): Promise<void>
}

interface Run<T> {
  readonly result: Promise<T>
  readonly abort: AbortController
  /**
   * The users who asked for the job before it began. A user who stopped waiting still counts: when that
   * user's turn comes, the job begins for the others.
   */
  readonly users: Set<string>
  readonly hasBegun: () => boolean
  waiting: number
  /** The timer that runs while no caller waits. When it ends, the job is aborted. */
  unattended?: NodeJS.Timeout
}

export function createSharedRuns<T>(options: {
  readonly limit: number
  readonly unattendedMs: number
}): SharedRuns<T> {
  const { limit, unattendedMs } = options
  const runs = new Map<string, Run<T>>()
  /** All runs that have not ended, aborted ones included. */
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
    // This also handles the failure of a job for which no caller waits. The next caller makes another
    // attempt and gets that attempt's error.
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
      if (isClosed) throw new Error(`'${key}' can not begin: no job begins after the close`)
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
