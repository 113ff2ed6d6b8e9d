import { badFrame, badSize, Flag, FrameType, frameHeadBytes, maxPayloadBytes, preface } from './frames.ts'

/** Takes what was read. A payload stands in `bytes` between `from` and `to`. */
export interface FrameTaker {
  frame(type: number, flags: number, stream: number, bytes: Buffer, from: number, to: number): void
  /** Takes a piece of a body. A body is not collected before it is passed on. */
  data(stream: number, piece: Buffer, ended: boolean): void
}

/** Takes the bytes of a client apart: the preface, and then frames. Throws `ConnectionError`. */
export class FrameReader {
  readonly #taker: FrameTaker
  /** The bytes of a frame that is not complete. */
  #rest: Buffer | undefined
  #begun = false
  /** What is left of a frame of a body; its stream, and whether the stream ends with it. */
  #dataBytes = 0
  #dataStream = 0
  #dataEnds = false

  constructor(taker: FrameTaker) {
    this.#taker = taker
  }

  take(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = undefined
    let at = this.#begun ? this.#passData(bytes, 0) : this.#begin(bytes)
    while (this.#begun && at + frameHeadBytes <= bytes.length) {
      const length = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
      if (length > maxPayloadBytes) throw badSize('a frame is too large')
      const type = bytes[at + 3] ?? 0
      const flags = bytes[at + 4] ?? 0
      const stream = uint31(bytes, at + 5)
      const from = at + frameHeadBytes
      if (type === FrameType.Data && length > 0 && (flags & Flag.Padded) === 0) {
        this.#dataBytes = length
        this.#dataStream = stream
        this.#dataEnds = (flags & Flag.EndStream) !== 0
        at = this.#passData(bytes, from)
        continue
      }
      if (from + length > bytes.length) break
      at = from + length
      this.#taker.frame(type, flags, stream, bytes, from, at)
    }
    // A copy: the whole chunk would be held with the few bytes that are left of it.
    if (at < bytes.length) this.#rest = at === 0 ? bytes : Buffer.from(bytes.subarray(at))
  }

  /** Passes on what is there of the body's frame. Returns where the next frame begins. */
  #passData(bytes: Buffer, from: number): number {
    const to = Math.min(from + this.#dataBytes, bytes.length)
    if (to === from) return from
    this.#dataBytes -= to - from
    this.#taker.data(this.#dataStream, bytes.subarray(from, to), this.#dataEnds && this.#dataBytes === 0)
    return to
  }

  /** Reads the preface. Returns where the frames begin. */
  #begin(bytes: Buffer): number {
    const length = Math.min(bytes.length, preface.length)
    if (bytes.compare(preface, 0, length, 0, length) !== 0) {
      throw badFrame('this is not HTTP/2')
    }
    this.#begun = length === preface.length
    return this.#begun ? length : 0
  }
}

export function uint31(bytes: Buffer, at: number): number {
  return (
    (((bytes[at] ?? 0) & 0x7f) << 24) |
    ((bytes[at + 1] ?? 0) << 16) |
    ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)
  )
}
