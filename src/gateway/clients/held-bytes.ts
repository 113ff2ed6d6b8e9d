import type { SourceNetwork } from './source.ts'

/** A client's connection, for which bytes are held that nobody takes. */
export interface Holder {
  /** The networks that it is in, widest first. Holders of one network share its budget. */
  readonly networks: readonly SourceNetwork[]
  readonly bytes: number
}

export interface HeldBudgets {
  /** The budget of one source; wider networks have a multiple. */
  readonly perSourceBytes: number
  readonly allBytes: number
}

/**
 * Returns the holders that have to be closed so that no network holds more than its budget, and all
 * together no more than theirs. Of each network as few as possible are closed: those that hold most. For
 * the budget of all, the next holder is always taken from the network that holds most at that moment.
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

/** Largest first, each with the sum of what it and the holders after it hold. */
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
