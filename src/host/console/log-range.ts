/** Byte offsets into everything an instance ever printed; ends are exclusive. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Which bytes a request for `limit` bytes at `offset` gets of a log of which `available` is still kept.
 *
 * A negative offset counts from the end, and the answer is what `[end + offset, end + offset + limit)` has in
 * common with the log: a reader that pages backwards never gets a byte twice. An absolute offset whose bytes
 * were dropped begins at the oldest byte that is left, so a reader that fell behind goes on instead of
 * waiting for ever. At or beyond the end the answer is empty and begins where it was asked for.
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
