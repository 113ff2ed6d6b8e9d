import { processorSeconds } from '../gateway/processor-time.ts'

/** What each named part used of one core, 1 for all of it, while `work` ran. */
export async function withProcessorShares<T>(
  pidsOf: () => Readonly<Record<string, readonly number[]>>,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly tookMs: number; readonly shares: ReadonlyMap<string, number> }> {
  const before = secondsOf(pidsOf())
  const startedMs = performance.now()
  const result = await work()
  const tookMs = performance.now() - startedMs
  const shares = [...secondsOf(pidsOf())].map(([name, seconds]): [string, number] => [
    name,
    (Math.max(0, seconds - (before.get(name) ?? 0)) * 1_000) / tookMs,
  ])
  return { result, tookMs, shares: new Map(shares) }
}

function secondsOf(pids: Readonly<Record<string, readonly number[]>>): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(pids).map(([name, all]) => [
      name,
      all.reduce((sum, pid) => sum + processorSeconds(pid), 0),
    ]),
  )
}
