import { Readable } from 'node:stream'

const blockBytes = 16_384
/** Pieces of at least this size are given as they are. A smaller one would hold much more than itself. */
const leastGivenBytes = 8_192

/**
 * The body of a request of HTTP/2. What nobody reads yet is kept in blocks, so that a client that sends each
 * byte in a frame of its own does not hold more memory than another.
 */
export class Http2Body extends Readable {
  readonly #onTaken: (bytes: number) => void
  readonly #blocks: Buffer[] = []
  /** How much of the last block is used. */
  #lastBytes = 0
  #keptBytes = 0
  #wanted = false
  #finished = false

  /** `onTaken` is called with the number of bytes that have left the blocks. */
  constructor(onTaken: (bytes: number) => void) {
    super({ highWaterMark: 32 << 10 })
    this.#onTaken = onTaken
  }

  get heldBytes(): number {
    return this.#keptBytes + this.readableLength
  }

  /** Keeps the bytes, or gives them at once. They stay as they are after the call. */
  accept(bytes: Buffer): void {
    if (this.#wanted && this.#keptBytes === 0) {
      return this.#give(bytes.length < leastGivenBytes ? copyOf(bytes) : bytes)
    }
    this.#keptBytes += bytes.length
    const last = this.#blocks.at(-1)
    if (last === undefined || this.#lastBytes + bytes.length > last.length) return this.#add(bytes)
    this.#lastBytes += bytes.copy(last, this.#lastBytes)
  }

  finish(): void {
    this.#finished = true
    if (this.#wanted && this.#keptBytes === 0) this.push(null)
  }

  override _read(): void {
    this.#wanted = true
    const block = this.#blocks.shift()
    if (block === undefined) {
      if (this.#finished) this.push(null)
      return
    }
    const bytes = this.#blocks.length === 0 ? block.subarray(0, this.#lastBytes) : block
    this.#keptBytes -= bytes.length
    this.#give(bytes)
  }

  #give(bytes: Buffer): void {
    this.#wanted = false
    this.#onTaken(bytes.length)
    this.push(bytes)
  }

  #add(bytes: Buffer): void {
    const last = this.#blocks.pop()
    if (last !== undefined) this.#blocks.push(last.subarray(0, this.#lastBytes))
    const block = Buffer.allocUnsafeSlow(Math.max(blockBytes, bytes.length))
    this.#lastBytes = bytes.copy(block)
    this.#blocks.push(block)
  }
}

/** A copy in memory of its own: Node would put a small one beside others, which it then keeps. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}
