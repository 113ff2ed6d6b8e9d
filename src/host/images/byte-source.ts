import { LayerError } from './tar-entry.ts'

/**
 * Reads a stream of chunks in the portions that its reader asks for. It holds at most one chunk and one
 * portion.
 */
export class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Returns the next bytes, at least one and at most `max`, or undefined at the end. */
  async some(max: number): Promise<Buffer | undefined> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next()
      if (next.done === true) return undefined
      this.#rest = next.value
    }
    const part = this.#rest.subarray(0, max)
    this.#rest = this.#rest.subarray(part.length)
    return part
  }

  /** Returns exactly `size` bytes. Returns undefined if the stream ends before the first of them. */
  async exactly(size: number): Promise<Buffer | undefined> {
    const first = await this.some(size)
    if (first === undefined || first.length === size) return first
    const parts = [first]
    for (let missing = size - first.length; missing > 0;) {
      const part = await this.some(missing)
      if (part === undefined) throw new LayerError('the archive ends in the middle of an entry')
      parts.push(part)
      missing -= part.length
    }
    return Buffer.concat(parts, size)
  }

  async skip(size: number): Promise<void> {
    for (let missing = size; missing > 0;) {
      const part = await this.some(missing)
      if (part === undefined) throw new LayerError('the archive ends in the middle of an entry')
      missing -= part.length
    }
  }
}
