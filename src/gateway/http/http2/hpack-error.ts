/** A block of fields that can not be decoded. What follows on its connection can not be decoded either. */
export class HpackError extends Error {
  override readonly name = 'HpackError'
}
