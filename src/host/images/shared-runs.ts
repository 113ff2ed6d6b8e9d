/**
 * Runs a job once per key however many ask for it meanwhile, and at most `limit` jobs at a time. Whoever asks may give
 * up alone. A job that has begun goes on without them, for whoever asks next: until it ends, or until nobody has asked for
 * `unattendedMs`. What still waits for its turn then is not begun.
 */
export interface SharedRuns<T> {
  run(key: string, job: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Aborts every job and resolves when all have ended; from then on there are none. */
  close(): Promise<void>
}

interface Run<T> {
  readonly result: Promise<T>
  readonly abort: AbortController
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
  const queue: (() => void)[] = []
  let running = 0
  let isClosed = false

  async function inTurn(job: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (running >= limit) await new Promise<void>((resolve) => queue.push(resolve))
    else running++
    try {
      signal.throwIfAborted()
      return await job()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }

  function begin(key: string, job: (signal: AbortSignal) => Promise<T>): Run<T> {
    const abort = new AbortController()
    let hasBegun = false
    const result = inTurn(async () => {
      hasBegun = true
      return await job(abort.signal)
    }, abort.signal)
    const run: Run<T> = { result, abort, hasBegun: () => hasBegun, waiting: 0 }
    const forget = () => {
      clearTimeout(run.unattended)
      unended.delete(run)
      if (runs.get(key) === run) runs.delete(key)
    }
    runs.set(key, run)
    unended.add(run)
    // Also the end of the failure of one that nobody waits for: whoever asks next tries again, and hears of it then.
    result.then(forget, forget)
    return run
  }

  function leave(run: Run<T>): void {
    run.waiting--
    if (run.waiting > 0 || !unended.has(run)) return
    if (!run.hasBegun()) return run.abort.abort()
    run.unattended = setTimeout(() => run.abort.abort(), unattendedMs).unref()
  }

  return {
    async run(key, job, signal) {
      signal?.throwIfAborted()
      if (isClosed) throw new Error(`nothing is begun any more, and '${key}' neither`)
      const known = runs.get(key)
      const run = known && !known.abort.signal.aborted ? known : begin(key, job)
      run.waiting++
      clearTimeout(run.unattended)
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
