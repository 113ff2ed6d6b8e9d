/** A range of byte offsets into everything that an instance ever printed. The end is exclusive. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * The bytes that a request for `limit` bytes at `offset` gets. `available` is the part of the log that is
 * still kept.
 *
 * A negative offset counts from the end, and the answer is what `[end + offset, end + offset + limit)` has
 * in common with the log: a reader that pages backwards never gets a byte twice. If the bytes at an absolute
 * offset were dropped, the answer begins at the oldest byte that is left, so a reader that fell behind goes
 * on instead of waiting for ever. At or beyond the end the answer is empty and begins at `offset`.
 */
export function rangeOf(
  request: { readonly offset: number; readonly limit: number },
  available: ByteRange,
): ByteRange {
  const { offset, limit } = request
  if (offset < 0) {
    const from = available.end + offset
    return nonEmpty(Math.max(from, available.start), Math.min(from + limit, available.end))
  }
  if (offset >= available.end) return { start: offset, end: offset }
  const start = Math.max(offset, available.start)
  return nonEmpty(start, Math.min(start + limit, available.end))
}

function nonEmpty(start: number, end: number): ByteRange {
  return { start, end: Math.max(start, end) }
}
