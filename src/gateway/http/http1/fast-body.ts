import { Readable } from 'node:stream'

/** The body of a request on the fast road, of which the head said the length. */
export class FastBody extends Readable {
  /** The bytes that have not arrived yet. */
  left: number
  readonly #onWanted: () => void

  constructor(bytes: number, onWanted: () => void) {
    super({ highWaterMark: 64 << 10 })
    this.left = bytes
    this.#onWanted = onWanted
  }

  /**
   * Takes what belongs to the body and returns how many bytes that is. After it, `isFull` says whether the
   * reader has to wait.
   */
  accept(chunk: Buffer): number {
    const count = Math.min(this.left, chunk.length)
    if (count === 0) return 0
    this.left -= count
    this.push(count === chunk.length ? chunk : chunk.subarray(0, count))
    if (this.left === 0) this.push(null)
    return count
  }

  get isFull(): boolean {
    return this.readableLength >= this.readableHighWaterMark
  }

  override _read(): void {
    this.#onWanted()
  }
}
