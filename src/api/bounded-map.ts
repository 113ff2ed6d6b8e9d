/**
 * Maps with at most `limit` calls under way. The results are in the order of the items. Fails with the first
 * failure.
 */
export async function boundedMap<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const results = Array.from<R>({ length: items.length })
  const entries = items.entries()
  async function worker(): Promise<void> {
    for (const [index, item] of entries) results[index] = await work(item, index)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
  return results
}
