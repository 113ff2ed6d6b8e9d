/** The length field's size. In DNS over TCP, each message begins with its length in two bytes. */
const lengthBytes = 2

export class LengthFramedReader {
  readonly #maxBytes: number
  #rest: Buffer = Buffer.alloc(0)

  constructor(options: { readonly maxBytes: number }) {
    this.#maxBytes = options.maxBytes
  }

  /**
   * Returns the messages that are complete with this chunk. Returns undefined if a message is longer than
   * permitted. After that nothing more can be read.
   */
  push(chunk: Buffer): readonly Buffer[] | undefined {
    const found: Buffer[] = []
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    while (bytes.length >= lengthBytes) {
      const length = bytes.readUInt16BE(0)
      if (length > this.#maxBytes) return undefined
      if (bytes.length < lengthBytes + length) break
      found.push(bytes.subarray(lengthBytes, lengthBytes + length))
      bytes = bytes.subarray(lengthBytes + length)
    }
    this.#rest = Buffer.from(bytes)
    return found
  }
}

export function lengthFramed(message: Buffer): Buffer {
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt16BE(message.length)
  return Buffer.concat([length, message])
}
