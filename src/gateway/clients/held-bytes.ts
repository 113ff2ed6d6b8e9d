import type { SourceNetwork } from './source.ts'

/** Somebody for whom bytes are held that nobody takes. */
export interface Holder {
  /** Several of one network share its budget; widest first. */
  readonly networks: readonly SourceNetwork[]
  readonly bytes: number
}

export interface HeldBudgets {
  /** Of one source; wider networks have a multiple. */
  readonly perSourceBytes: number
  readonly allBytes: number
}

/**
 * Those that have to go so that no network holds more than its budget, nor all of them together: of each the
 * fewest, those that hold most. For the budget of all they are taken from the network that holds most then.
 */
export function holdersOverBudget<H extends Holder>(holders: readonly H[], budgets: HeldBudgets): H[] {
  const over = new Set<H>()
  const levels = holders.reduce((most, { networks }) => Math.max(most, networks.length), 0)
  for (let level = 1; level <= levels; level++) {
    const there = holders.filter((each) => each.networks.length >= level && !over.has(each))
    for (const those of Map.groupBy(there, ({ networks }) => networks.at(-level)?.name).values()) {
      const times = those[0]?.networks.at(-level)?.times ?? 1
      for (const { holder, leftBytes } of byWhatIsLeft(those)) {
        if (leftBytes <= budgets.perSourceBytes * times) break
        over.add(holder)
      }
    }
  }
  const rest = holders.filter((each) => !over.has(each))
  const groups = [...Map.groupBy(rest, ({ networks }) => networks[0]?.name).values()]
  const inTurn = groups.flatMap(byWhatIsLeft).toSorted((one, other) => other.leftBytes - one.leftBytes)
  let allBytes = sumOf(rest)
  for (const { holder } of inTurn) {
    if (allBytes <= budgets.allBytes) break
    over.add(holder)
    allBytes -= holder.bytes
  }
  return [...over]
}

/** Largest first, each with what it and those after it hold. */
function byWhatIsLeft<H extends Holder>(
  holders: readonly H[],
): { readonly holder: H; readonly leftBytes: number }[] {
  let leftBytes = sumOf(holders)
  return holders
    .toSorted((one, other) => other.bytes - one.bytes)
    .map((holder) => {
      const step = { holder, leftBytes }
      leftBytes -= holder.bytes
      return step
    })
}

function sumOf(holders: readonly Holder[]): number {
  return holders.reduce((sum, { bytes }) => sum + bytes, 0)
}
