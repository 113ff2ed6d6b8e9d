import { Pool } from 'undici'

/** The result of a bounded load. */
export interface LoadResult {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Load {
  readonly url: string
  /** The tokens with which requests are sent, in turn. One token alone would reach the rate limit. */
  readonly tokens: readonly string[]
  readonly requests: number
  readonly connections: number
  /** Returns the path of request number `index`. */
  readonly path: (index: number) => string
}

/**
 * Sends exactly `requests` requests over `connections` connections. Throws if an answer is not 200.
 */
export async function measureLoad(load: Load): Promise<LoadResult> {
  const pool = new Pool(load.url, { connections: load.connections, pipelining: 1 })
  const latenciesMs: number[] = []
  let next = 0
  const connection = async () => {
    while (next < load.requests) {
      const index = next++
      const token = load.tokens[index % load.tokens.length] ?? ''
      const startedMs = performance.now()
      const { statusCode, body } = await pool.request({
        method: 'GET',
        path: load.path(index),
        headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
      })
      await body.dump({ limit: Number.MAX_SAFE_INTEGER })
      if (statusCode !== 200) throw new Error(`${load.path(index)} answered ${statusCode}`)
      latenciesMs.push(performance.now() - startedMs)
    }
  }
  const startedMs = performance.now()
  try {
    await Promise.all(Array.from({ length: load.connections }, connection))
  } finally {
    await pool.close()
  }
  const elapsedMs = performance.now() - startedMs
  return {
    perSecond: (load.requests * 1000) / elapsedMs,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  }
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
