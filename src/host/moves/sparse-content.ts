import type { FileHandle } from 'node:fs/promises'

/**
 * The content of a file with holes, as it crosses the wire: pieces that are not all zeros, in their order,
 * each with its place (8 bytes) and its length (4 bytes) before it. So a volume of which little was ever
 * written is read once and costs little more, and its holes stay holes.
 */

/** The most that is read at once, and the longest piece. */
const readBytes = 1024 * 1024
/** Zeros are looked for in steps of this size. */
const stepBytes = 65_536
const headBytes = 12
/**
 * In so many zeros one piece is sent all the same. A connection on which nothing comes for a while is
 * ended.
 */
const silentBytes = 64 * 1024 * 1024

const zeros = Buffer.alloc(stepBytes)

/** A file that is read. */
export interface ReadFile {
  read(buffer: Buffer, offset: number, length: number, at: number): Promise<{ readonly bytesRead: number }>
}

/** The pieces of the first `bytes` of a file. Throws if it has less. */
export async function* sparsePiecesOf(file: ReadFile, bytes: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(readBytes)
  let sentTo = 0
  for (let at = 0; at < bytes;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(readBytes, bytes - at), at)
    if (bytesRead === 0) throw new Error(`the file ends at ${at}, before its ${bytes} bytes`)
    const written = writtenIn(buffer.subarray(0, bytesRead))
    const isSilent = at - sentTo >= silentBytes
    for (const { from, to } of written.length === 0 && isSilent ? [{ from: 0, to: bytesRead }] : written) {
      yield Buffer.concat([headOf(at + from, to - from), buffer.subarray(from, to)])
      sentTo = at + to
    }
    at += bytesRead
  }
}

/** The parts that are not all zeros. Neighbours are one part. */
function writtenIn(buffer: Buffer): readonly { readonly from: number; to: number }[] {
  const parts: { readonly from: number; to: number }[] = []
  for (let from = 0; from < buffer.length; from += stepBytes) {
    const to = Math.min(from + stepBytes, buffer.length)
    if (buffer.subarray(from, to).equals(zeros.subarray(0, to - from))) continue
    const last = parts.at(-1)
    if (last?.to === from) last.to = to
    else parts.push({ from, to })
  }
  return parts
}

function headOf(at: number, length: number): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeBigUInt64BE(BigInt(at))
  head.writeUInt32BE(length, 8)
  return head
}

/** Writes pieces that arrive to a file of `limit` bytes, which is one hole. */
export class SparseWriter {
  readonly #file: FileHandle
  readonly #limit: number
  #head = Buffer.alloc(0)
  #at = 0
  #left = 0

  constructor(file: FileHandle, limit: number) {
    this.#file = file
    this.#limit = limit
  }

  /** Whether what has arrived ends with a whole piece. */
  get isWhole(): boolean {
    return this.#left === 0 && this.#head.length === 0
  }

  /** How far in the file the pieces are. */
  get at(): number {
    return this.#at
  }

  async write(arrived: Buffer): Promise<void> {
    for (let from = 0; from < arrived.length;) {
      if (this.#left === 0) {
        from += this.#readHead(arrived.subarray(from))
        continue
      }
      const part = arrived.subarray(from, from + this.#left)
      await writeWithoutZeros(this.#file, part, this.#at)
      this.#at += part.length
      this.#left -= part.length
      from += part.length
    }
  }

  /** Returns how many bytes of the head were there. */
  #readHead(arrived: Buffer): number {
    const more = arrived.subarray(0, headBytes - this.#head.length)
    this.#head = Buffer.concat([this.#head, more])
    if (this.#head.length < headBytes) return more.length
    const [at, length] = [Number(this.#head.readBigUInt64BE()), this.#head.readUInt32BE(8)]
    this.#head = Buffer.alloc(0)
    if (at < this.#at || length === 0 || length > readBytes || at + length > this.#limit)
      throw new Error(`it has ${length} bytes at ${at}, but at most ${this.#limit} in all, in their order`)
    this.#at = at
    this.#left = length
    return more.length
  }
}

/** Writes the part at its place. Steps that are all zeros are left out. */
export async function writeWithoutZeros(file: FileHandle, piece: Buffer, at: number): Promise<void> {
  for (let from = 0; from < piece.length; from += stepBytes) {
    const part = piece.subarray(from, from + stepBytes)
    if (part.equals(zeros.subarray(0, part.length))) continue
    for (let done = 0; done < part.length;) {
      const { bytesWritten } = await file.write(part, done, part.length - done, at + from + done)
      done += bytesWritten
    }
  }
}
