/** Somebody for whom bytes are held that nobody takes. */
export interface Holder {
  /** Several of one source share its budget. */
  readonly source: string
  readonly bytes: number
}

/** Those that have to go so that no source holds more than its budget: of each the fewest, those that hold most. */
export function holdersOverBudget<H extends Holder>(holders: Iterable<H>, budgetBytes: number): H[] {
  const over: H[] = []
  for (const those of Map.groupBy(holders, ({ source }) => source).values()) {
    let left = those.reduce((sum, { bytes }) => sum + bytes, 0)
    if (left <= budgetBytes) continue
    for (const holder of those.toSorted((one, other) => other.bytes - one.bytes)) {
      if (left <= budgetBytes) break
      over.push(holder)
      left -= holder.bytes
    }
  }
  return over
}
