const closeOpcode = 8
/** The longest header: two bytes, eight of an extended length, four of a mask. */
const longestHeaderBytes = 14

/**
 * Follows the frames of one direction of a WebSocket without looking into them. Where a frame ends, another
 * frame may be inserted.
 */
export class WebSocketFrames {
  /** Whether the sender has sent its close frame, after which nothing follows. */
  closing = false
  readonly #header = Buffer.alloc(longestHeaderBytes)
  #headerBytes = 0
  #payloadLeft = 0

  get atBoundary(): boolean {
    return this.#headerBytes === 0 && this.#payloadLeft === 0
  }

  /**
   * Returns how many bytes of the chunk were followed: all, or with `stop` those up to the first end of a
   * frame.
   */
  follow(chunk: Buffer, options: { readonly stop: boolean }): number {
    let at = 0
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const step = Math.min(this.#payloadLeft, chunk.length - at)
        this.#payloadLeft -= step
        at += step
      } else {
        this.#header[this.#headerBytes] = chunk[at] ?? 0
        this.#headerBytes += 1
        at += 1
        this.#readHeader()
      }
      if (options.stop && this.atBoundary) return at
    }
    return at
  }

  #readHeader(): void {
    if (this.#headerBytes < 2) return
    const short = (this.#header[1] ?? 0) & 0x7f
    const masked = ((this.#header[1] ?? 0) & 0x80) !== 0
    const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0
    if (this.#headerBytes < 2 + lengthBytes + (masked ? 4 : 0)) return
    this.#payloadLeft =
      short === 127
        ? Number(this.#header.readBigUInt64BE(2))
        : short === 126
          ? this.#header.readUInt16BE(2)
          : short
    if (((this.#header[0] ?? 0) & 0x0f) === closeOpcode) this.closing = true
    this.#headerBytes = 0
  }
}

/**
 * The close frame with status 1001, as a server sends it when it goes away; without a mask, because servers
 * use none.
 */
export const goingAwayFrame = Buffer.from([0x88, 0x02, 0x03, 0xe9])
