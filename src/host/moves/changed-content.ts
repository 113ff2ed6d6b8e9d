import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import type { MirrorTarget } from '../vmm/volume-mirror.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/**
 * The content of a volume that changes, as it crosses the wire: pieces in any order, each with its place
 * (8 bytes), its length (4 bytes) and the length of its compressed bytes (4 bytes) before them. A piece
 * without compressed bytes is zeros. A piece without a length is a mark: its place says which one. Both sides
 * keep a SHA-256 of the places, the lengths and the bytes before they are compressed.
 */
const headBytes = 16
const marks = { alive: 0, ready: 1 } as const
/** The longest piece. The mirror writes nothing that is longer. */
const pieceMaxBytes = 4 * 1024 * 1024
const compressedMaxBytes = pieceMaxBytes + 65_536
/** Whether something was written is kept for steps of this size. */
const stepBytes = 65_536
/** A connection on which nothing comes for a while is ended, so something is sent. */
const aliveMs = 5_000
/** After so many bytes they are made durable, so that little is left for the end, when the VM waits. */
const syncBytes = 64 * 1024 * 1024
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

function headOf(at: number, length: number, sent: number): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeBigUInt64BE(BigInt(at))
  head.writeUInt32BE(length, 8)
  head.writeUInt32BE(sent, 12)
  return head
}

class Checksum {
  readonly #hash = createHash('sha256')

  add(at: number, length: number, data?: Buffer): void {
    this.#hash.update(`${at} ${length}\n`)
    if (data !== undefined) this.#hash.update(data)
  }

  digest(): string {
    return this.#hash.digest('hex')
  }
}

/**
 * How much may be sent until the other side has had all: so many times the size of the volume, and this much
 * for a small one. If the guest writes faster than that, the copy never ends.
 */
const mostTimes = 3
const mostBesides = 256 * 1024 * 1024

/** Sends what a mirror writes. To be disposed of when the mirror is over. */
export class ChangesSender implements MirrorTarget, Disposable {
  readonly bytes: number
  readonly #to: Writable
  readonly #checksum = new Checksum()
  readonly #alive: NodeJS.Timeout
  #sent = 0
  #isReady = false

  constructor(to: Writable, bytes: number) {
    this.#to = to
    this.bytes = bytes
    this.#alive = setInterval(() => this.#mark(marks.alive), aliveMs)
  }

  /** How many bytes of the volume were sent, with zeros and repeats. */
  get sent(): number {
    return this.#sent
  }

  async write(at: number, data: Buffer): Promise<void> {
    const compressed = await compress(data, compression)
    this.#checksum.add(at, data.length, data)
    await this.#send(data.length, Buffer.concat([headOf(at, data.length, compressed.length), compressed]))
  }

  async zero(at: number, length: number): Promise<void> {
    for (let from = at; from < at + length; from += pieceMaxBytes) {
      const part = Math.min(pieceMaxBytes, at + length - from)
      this.#checksum.add(from, part)
      await this.#send(part, headOf(from, part, 0))
    }
  }

  /** Tells the other side that it has had all of the volume. */
  tellReady(): void {
    this.#isReady = true
    this.#mark(marks.ready)
  }

  #mark(mark: number): void {
    if (!this.#to.destroyed) this.#to.write(headOf(mark, 0, 0))
  }

  checksum(): string {
    return this.#checksum.digest()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#alive)
  }

  /** Resolves when the next piece may be sent. */
  async #send(length: number, piece: Buffer): Promise<void> {
    if (this.#to.destroyed) throw new Error('the other host is gone')
    if (!this.#isReady && this.#sent > mostTimes * this.bytes + mostBesides)
      throw new Error('the instance writes to its volume faster than that can be copied')
    // A response whose connection is gone calls nobody back.
    await new Promise<void>((resolve, reject) => {
      const closed = () => reject(new Error('the other host is gone'))
      this.#to.once('close', closed)
      this.#to.write(piece, (error) => {
        this.#to.off('close', closed)
        if (error) reject(error)
        else resolve()
      })
    })
    this.#sent += length
  }
}

interface Piece {
  readonly at: number
  readonly length: number
  readonly compressed: Buffer
}

/** Writes what arrives to a file of `limit` bytes, which is one hole. */
export class ArrivingChanges {
  readonly #file: FileHandle
  readonly #limit: number
  readonly #onReady: () => Promise<void>
  readonly #checksum = new Checksum()
  readonly #written: Uint8Array
  readonly #chunks: Buffer[] = []
  #waiting = 0
  /** How many bytes have to wait before there is something to take. */
  #needed = headBytes
  #arrived = 0
  #syncedAt = 0

  constructor(file: FileHandle, limit: number, onReady: () => Promise<void>) {
    this.#file = file
    this.#limit = limit
    this.#onReady = onReady
    this.#written = new Uint8Array(Math.ceil(limit / stepBytes))
  }

  /** How many bytes of the volume have arrived, with zeros and repeats. */
  get arrived(): number {
    return this.#arrived
  }

  /** Whether what has arrived ends with a whole piece. */
  get isWhole(): boolean {
    return this.#waiting === 0
  }

  checksum(): string {
    return this.#checksum.digest()
  }

  async write(pieces: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of pieces) {
      this.#chunks.push(piece)
      this.#waiting += piece.length
      while (this.#waiting >= this.#needed) await this.#takePiece(Buffer.concat(this.#chunks.splice(0)))
    }
  }

  /** Takes one piece of what waits, if it is there as a whole. */
  async #takePiece(waiting: Buffer): Promise<void> {
    const at = Number(waiting.readBigUInt64BE())
    const [length, sent] = [waiting.readUInt32BE(8), waiting.readUInt32BE(12)]
    this.#require(at, length, sent)
    const end = headBytes + sent
    const isWhole = waiting.length >= end
    this.#chunks.push(isWhole ? waiting.subarray(end) : waiting)
    this.#needed = isWhole ? headBytes : end
    if (!isWhole) return
    this.#waiting -= end
    await this.#take({ at, length, compressed: waiting.subarray(headBytes, end) })
  }

  async #take({ at, length, compressed }: Piece): Promise<void> {
    if (length === 0) {
      if (at === marks.ready) await this.#onReady()
      return
    }
    const data =
      compressed.length === 0 ? undefined : await decompress(compressed, { maxOutputLength: pieceMaxBytes })
    if (data !== undefined && data.length !== length)
      throw new Error(`a piece has ${data.length} bytes and not ${length}`)
    this.#checksum.add(at, length, data)
    await this.#keep(at, length, data)
    this.#arrived += length
    await turn()
    if (this.#arrived - this.#syncedAt < syncBytes) return
    this.#syncedAt = this.#arrived
    await this.#file.datasync()
  }

  #require(at: number, length: number, sent: number): void {
    const isMark = length === 0 && sent === 0
    const isWithin = length > 0 && at + length <= this.#limit
    const isShort = length <= pieceMaxBytes && sent <= compressedMaxBytes
    if (!isMark && !(isWithin && isShort))
      throw new Error(`it has ${length} bytes at ${at}, but at most ${this.#limit} in all`)
  }

  /** What is zeros, and was never anything else, stays a hole. */
  async #keep(at: number, length: number, data: Buffer | undefined): Promise<void> {
    for (let from = at; from < at + length;) {
      const step = Math.floor(from / stepBytes)
      const to = Math.min(at + length, (step + 1) * stepBytes)
      const part = data === undefined ? zeros.subarray(0, to - from) : data.subarray(from - at, to - at)
      const isEmpty = data === undefined || part.equals(zeros.subarray(0, part.length))
      if (!isEmpty || this.#written[step] === 1) {
        this.#written[step] = 1
        await this.#file.write(part, 0, part.length, from)
      }
      from = to
    }
  }
}

const zeros = Buffer.alloc(stepBytes)
