import { GrpcCode, GrpcStatus, invalid } from './grpc-status.ts'

/** A message of gRPC is led by one byte that says whether it is compressed, and four bytes of its length. */
const prefixBytes = 5

/** Returns a message with its prefix, as one piece. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length)
  frame[0] = 0
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, prefixBytes)
  return frame
}

/**
 * Reads the one message of a call that comes in pieces. The memory for it is taken once its length is known,
 * and all pieces are copied there. So a message in millions of pieces costs no more than another one.
 */
export class FrameReader {
  readonly #limitBytes: number
  readonly #reserve: (bytes: number) => boolean
  readonly #prefix = Buffer.alloc(prefixBytes)
  #prefixFilled = 0
  #message: Buffer | undefined
  #filled = 0

  /** `reserve` is asked once for the memory of the message. It returns false if there is none left. */
  constructor(options: { readonly limitBytes: number; readonly reserve: (bytes: number) => boolean }) {
    this.#limitBytes = options.limitBytes
    this.#reserve = options.reserve
  }

  /** Takes the next piece. Returns a status if the message can not be taken; nothing is read after that. */
  push(piece: Buffer): GrpcStatus | undefined {
    let rest = piece
    if (this.#message === undefined) {
      const taken = rest.copy(this.#prefix, this.#prefixFilled)
      this.#prefixFilled += taken
      rest = rest.subarray(taken)
      if (this.#prefixFilled < prefixBytes) return undefined
      const begun = this.#begin()
      if (begun instanceof GrpcStatus) return begun
      this.#message = begun
    }
    if (rest.length > this.#message.length - this.#filled) {
      return invalid('A call has one message, but more bytes follow its message.')
    }
    this.#filled += rest.copy(this.#message, this.#filled)
    return undefined
  }

  /** Returns the message after the last piece. */
  end(): Buffer | GrpcStatus {
    if (this.#message === undefined) return invalid('The call ended before its message began.')
    if (this.#filled < this.#message.length) {
      return invalid(`The message ends after ${this.#filled} of ${this.#message.length} bytes.`)
    }
    return this.#message
  }

  #begin(): Buffer | GrpcStatus {
    const length = this.#prefix.readUInt32BE(1)
    if (this.#prefix[0] !== 0) return notCompressed('a compressed message')
    if (length > this.#limitBytes) {
      // The SDK knows these first words. It does not try such a message again.
      const text = `grpc: received message larger than max (${length} vs. ${this.#limitBytes})`
      return new GrpcStatus(GrpcCode.ResourceExhausted, text)
    }
    if (this.#reserve(length)) return Buffer.allocUnsafe(length)
    const text = `The messages of this host that are under way leave no room for another ${length} bytes.`
    return new GrpcStatus(GrpcCode.ResourceExhausted, text)
  }
}

/**
 * The answer to compression. The relay reads what it lets through, and a small compressed message may become
 * a very large one. The SDK compresses by default; it sees the word `grpc-encoding` in this answer to its
 * first call, and connects again without compression.
 */
export function notCompressed(found: string): GrpcStatus {
  return new GrpcStatus(
    GrpcCode.Unimplemented,
    `The relay takes no ${found}: grpc-encoding must be identity.`,
  )
}
