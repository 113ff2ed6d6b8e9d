import { Pool } from 'undici'
import { quantile } from '../load.ts'
import { inMs } from '../report.ts'

/** Reads that are sent at a fixed pace, whether the API answers or not. So a slow API has more of them. */
export interface PacedReads {
  stop(): Promise<ReadTimes>
}

export interface ReadTimes {
  readonly getMs: readonly number[]
  readonly listMs: readonly number[]
}

/** Of each kind. It is little, so that the reads themselves load nothing. */
const perSecond = 10
const connections = 32

/** One kind of read gets an instance by its UUID, the other lists a page of 100. */
export function startPacedReads(options: {
  readonly url: string
  readonly token: string
  /** An instance of that user. */
  readonly uuid: string
}): PacedReads {
  const pool = new Pool(options.url, { connections, pipelining: 1 })
  const times = { getMs: [] as number[], listMs: [] as number[] }
  const underWay = new Set<Promise<void>>()
  const read = async (path: string, into: number[]): Promise<void> => {
    const startedMs = performance.now()
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path,
      headers: { authorization: `Bearer ${options.token}` },
    })
    await body.dump({ limit: Number.MAX_SAFE_INTEGER })
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`)
    into.push(performance.now() - startedMs)
  }
  let failure: unknown
  const send = (path: string, into: number[]): void => {
    const reading = read(path, into).catch((error: unknown) => (failure ??= error))
    const one = reading.then(() => void underWay.delete(one))
    underWay.add(one)
  }
  const timer = setInterval(() => {
    send(`/v1/instances/${options.uuid}`, times.getMs)
    send('/v1/instances/list?count=100', times.listMs)
  }, 1_000 / perSecond)
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(underWay)
      await pool.close()
      if (failure !== undefined) throw new Error('a read failed', { cause: failure })
      return times
    },
  }
}

export function describeTimes(ms: readonly number[]): string {
  return `p50 ${inMs(quantile(ms, 0.5))}, p99 ${inMs(quantile(ms, 0.99))} (${ms.length})`
}
