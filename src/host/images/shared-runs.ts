/**
 * Runs a job once per key however many ask for it meanwhile, and at most `limit` jobs at a time. Whoever asks may give
 * up alone; the job is aborted when the last one has.
 */
export interface SharedRuns<T> {
  run(key: string, job: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>
}

interface Run<T> {
  readonly result: Promise<T>
  readonly abort: AbortController
  waiting: number
}

export function createSharedRuns<T>(limit: number): SharedRuns<T> {
  const runs = new Map<string, Run<T>>()
  const queue: (() => void)[] = []
  let running = 0

  async function inTurn(job: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    if (running >= limit) await new Promise<void>((resolve) => queue.push(resolve))
    else running++
    try {
      signal.throwIfAborted()
      return await job(signal)
    } finally {
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }

  function begin(key: string, job: (signal: AbortSignal) => Promise<T>): Run<T> {
    const abort = new AbortController()
    const result = inTurn(job, abort.signal)
    const run: Run<T> = { result, abort, waiting: 0 }
    const forget = () => {
      if (runs.get(key) === run) runs.delete(key)
    }
    runs.set(key, run)
    result.then(forget, forget)
    return run
  }

  return {
    async run(key, job, signal) {
      const known = runs.get(key)
      const run = known && !known.abort.signal.aborted ? known : begin(key, job)
      run.waiting++
      try {
        return await orAborted(run.result, signal)
      } finally {
        run.waiting--
        if (run.waiting === 0) run.abort.abort()
      }
    },
  }
}

async function orAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await result
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([result, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
