/**
 * Finds where zstd frames end, without decompressing them, from their headers (RFC 8878). Layers may consist
 * of hundreds of thousands of small frames (`zstd:chunked` has one for each file). Node's decompressor stops
 * after one frame; to set one up takes 0.3 ms for a stream, but only 12 µs for bytes whose end is known.
 */

const frameMagic = 0xfd2fb528
const skippableMagic = 0x184d2a50
const skippableMask = 0xfffffff0
const skippableHeaderBytes = 8
const blockHeaderBytes = 3
/** Two types of blocks in which the length field is not the number of bytes that are stored. */
const runBlock = 1
const reservedBlock = 3

export type ZstdFrame =
  /** The frame holds content. `bytes` includes its headers. */
  | { readonly kind: 'content'; readonly bytes: number }
  /**
   * The frame holds data for other programs, such as a table of contents. It may end after the given bytes.
   */
  | { readonly kind: 'skippable'; readonly bytes: number }
  /** The given bytes do not contain the whole frame, or not even the beginning that tells its kind. */
  | { readonly kind: 'longer' }
  | { readonly kind: 'damaged' }

/** The frame at the beginning of `bytes`. */
export function zstdFrameAt(bytes: Buffer): ZstdFrame {
  if (bytes.length < skippableHeaderBytes) return { kind: 'longer' }
  const magic = bytes.readUInt32LE(0)
  if ((magic & skippableMask) >>> 0 === skippableMagic) {
    return { kind: 'skippable', bytes: skippableHeaderBytes + bytes.readUInt32LE(4) }
  }
  if (magic !== frameMagic) return { kind: 'damaged' }
  const descriptor = bytes.readUInt8(4)
  const hasChecksum = (descriptor & 0b100) !== 0
  for (let at = 4 + frameHeaderBytes(descriptor); at + blockHeaderBytes <= bytes.length;) {
    const header = bytes.readUIntLE(at, blockHeaderBytes)
    const type = (header >> 1) & 0b11
    if (type === reservedBlock) return { kind: 'damaged' }
    at += blockHeaderBytes + (type === runBlock ? 1 : header >> 3)
    if ((header & 1) === 0) continue
    const end = at + (hasChecksum ? 4 : 0)
    return end <= bytes.length ? { kind: 'content', bytes: end } : { kind: 'longer' }
  }
  return { kind: 'longer' }
}

/**
 * The size of a frame's header without its magic number: the descriptor, and the fields whose sizes the
 * descriptor tells (window, dictionary, size of the content).
 */
function frameHeaderBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0b10_0000) !== 0
  const window = isSingleSegment ? 0 : 1
  const dictionary = [0, 1, 2, 4][descriptor & 0b11] ?? 0
  const contentSize = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  return 1 + window + dictionary + contentSize
}
