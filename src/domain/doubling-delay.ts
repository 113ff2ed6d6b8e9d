/** A delay that doubles with each repeat, from the first up to the longest. */
export interface DoublingDelay {
  readonly firstMs: number
  readonly longestMs: number
}

/** Returns one delay. `repeats` is the number of delays before it: 0 gives the first delay. */
export function doublingDelayMs({ firstMs, longestMs }: DoublingDelay, repeats: number): number {
  return Math.min(longestMs, firstMs * 2 ** repeats)
}
