import { fieldLines, fieldText, splitFieldLines, token } from '../field-lines.ts'
import { UpstreamFault } from '../request-observer.ts'

/** Hears of an answer while it arrives. The calls come in the order of the bytes. */
export interface AnswerHandler {
  inform(status: number, fields: readonly string[]): void
  head(status: number, reason: string, fields: readonly string[]): void
  /** The bytes of the chunk may become others after the call. */
  data(chunk: Buffer): void
  complete(trailers: readonly string[]): void
}

/** An answer that is not valid HTTP/1, or too large. */
export class AnswerFault extends Error {
  override readonly name = 'AnswerFault'
  readonly fault: UpstreamFault

  constructor(message: string, fault: UpstreamFault = UpstreamFault.Malformed) {
    super(message)
    this.fault = fault
  }
}

/** What the next bytes of the connection are. */
const Part = {
  /** Nothing is expected. */
  None: 0,
  Head: 1,
  /** A body whose length the head said. */
  Sized: 2,
  /** A body that ends with the connection. */
  Endless: 3,
  /** The line before a chunk, with its size. */
  ChunkSize: 4,
  Chunk: 5,
  /** The end of the line after a chunk. */
  ChunkEnd: 6,
  /** The lines after the last chunk. */
  Trailers: 7,
} as const
type Part = (typeof Part)[keyof typeof Part]

const head = new RegExp(String.raw`^HTTP/1\.[01] [1-9]\d\d(?: ${fieldText})?\r\n${fieldLines}$`)
const trailerLines = new RegExp(`^${fieldLines}$`)
/** A line that would say anew where the body ends, which is over. */
const framingLine = /^(?:content-length|transfer-encoding):/im
const headStart = 'HTTP/1.'
const endOfHead = Buffer.from('\r\n\r\n')
const endOfLine = Buffer.from('\r\n')
const statusAt = 9
const reasonAt = 13
const digits = /^\d{1,15}$/
const quoted = String.raw`"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"`
const chunkSize = new RegExp(`^([0-9A-Fa-f]{1,12})(?:;${token}(?:=(?:${token}|${quoted}))?)*$`)
const maxChunkLineBytes = 4_096
const keepAliveHint = /(?:^|[,\s])timeout=(\d{1,6})(?:$|[,\s])/i

/** Reads the answers of one connection one by one. It throws `AnswerFault` on what it can not read. */
export class AnswerReader {
  /** Whether the connection may carry another request after the answer that is complete. */
  reusable = false
  /** How long the instance keeps an idle connection, as far as it said so. */
  keptIdleMs = Infinity
  readonly #maxHeadBytes: number
  #handler: AnswerHandler | undefined
  #part: Part = Part.None
  #toHead = false
  /** Bytes of a head or a line that is not complete yet. */
  #held: Buffer | undefined
  /** The bytes that are left of a sized body or a chunk. */
  #left = 0

  constructor(maxHeadBytes: number) {
    this.#maxHeadBytes = maxHeadBytes
  }

  /** Expects the answer to a request. `toHead`: its method is HEAD, so the answer has no body. */
  begin(handler: AnswerHandler, options: { readonly toHead: boolean }): void {
    this.#handler = handler
    this.#toHead = options.toHead
    this.#part = Part.Head
    this.reusable = false
  }

  /** Expects nothing more. The handler hears nothing more. */
  stop(): void {
    this.#handler = undefined
    this.#part = Part.None
    this.#held = undefined
  }

  read(arrived: Buffer): void {
    const held = this.#held
    this.#held = undefined
    const bytes = held === undefined ? arrived : Buffer.concat([held, arrived])
    let at = 0
    while (at < bytes.length && this.#part !== Part.None) {
      const next = this.#readPart(bytes, at)
      if (next === undefined) {
        this.#held = Buffer.from(bytes.subarray(at))
        return
      }
      at = next
    }
  }

  /** Called when the connection has ended. Returns whether that was the end of an answer. */
  end(): boolean {
    if (this.#part !== Part.Endless) return false
    this.#complete([], false)
    return true
  }

  /** Returns where the next part begins, or undefined if this part is not complete. */
  #readPart(bytes: Buffer, at: number): number | undefined {
    switch (this.#part) {
      case Part.Head:
        return this.#readHead(bytes, at)
      case Part.Sized:
      case Part.Chunk:
        return this.#readSized(bytes, at)
      case Part.Endless:
        this.#handler?.data(at === 0 ? bytes : bytes.subarray(at))
        return bytes.length
      case Part.ChunkSize:
        return this.#readChunkSize(bytes, at)
      case Part.ChunkEnd:
        if (bytes.length - at < 2) return undefined
        if (bytes[at] !== 0x0d || bytes[at + 1] !== 0x0a)
          throw new AnswerFault('a chunk is longer than its size')
        this.#part = Part.ChunkSize
        return at + 2
      case Part.Trailers:
        return this.#readTrailers(bytes, at)
      case Part.None:
      default:
        return bytes.length
    }
  }

  #readHead(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf(endOfHead, at)
    // Up to three bytes of the end may be there already. A head is not judged by how it was cut.
    if ((end < 0 ? bytes.length - 3 : end) - at > this.#maxHeadBytes) {
      throw new AnswerFault('the head is too large', UpstreamFault.TooLarge)
    }
    if (end < 0) {
      const start = bytes.toString('latin1', at, Math.min(bytes.length, at + headStart.length))
      if (!headStart.startsWith(start)) throw new AnswerFault('the answer is not HTTP/1')
      return undefined
    }
    const text = bytes.toString('latin1', at, end + 2)
    if (!head.test(text)) throw new AnswerFault('the head is not valid')
    const lineEnd = text.indexOf('\r\n')
    const status = Number(text.slice(statusAt, statusAt + 3))
    const fields = splitFieldLines(text, lineEnd + 2)
    const framing = readFraming(fields, text.charCodeAt(7) === 0x31)
    if (status < 200) {
      if (status === 101) throw new AnswerFault('the protocol was switched without being asked')
      this.#handler?.inform(status, fields)
    } else {
      const hasBody = this.#frame(status, framing)
      this.#handler?.head(status, text.slice(reasonAt, lineEnd), fields)
      if (!hasBody) this.#complete([], end + 4 === bytes.length)
    }
    return end + 4
  }

  /** Notes where the body ends. Returns whether there is one. */
  #frame(status: number, { length, coding, closes, keepsAlive, keptIdleMs }: Framing): boolean {
    this.reusable = keepsAlive && !closes
    this.keptIdleMs = keptIdleMs
    if (this.#toHead || status === 204 || status === 304) return false
    if (coding !== undefined) {
      this.#part = Part.ChunkSize
      return true
    }
    if (length === undefined) {
      this.reusable = false
      this.#part = Part.Endless
      return true
    }
    this.#part = Part.Sized
    this.#left = length
    return length > 0
  }

  #readSized(bytes: Buffer, at: number): number {
    const next = Math.min(bytes.length, at + this.#left)
    this.#left -= next - at
    const isChunk = this.#part === Part.Chunk
    if (isChunk && this.#left === 0) this.#part = Part.ChunkEnd
    this.#handler?.data(bytes.subarray(at, next))
    if (!isChunk && this.#left === 0) this.#complete([], next === bytes.length)
    return next
  }

  #readChunkSize(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf(endOfLine, at)
    if ((end < 0 ? bytes.length - 1 : end) - at > maxChunkLineBytes)
      throw new AnswerFault('a chunk line is too long')
    if (end < 0) return undefined
    const [, size] = chunkSize.exec(bytes.toString('latin1', at, end)) ?? []
    if (size === undefined) throw new AnswerFault('a chunk has no valid size')
    this.#left = Number.parseInt(size, 16)
    this.#part = this.#left === 0 ? Part.Trailers : Part.Chunk
    return end + 2
  }

  #readTrailers(bytes: Buffer, at: number): number | undefined {
    if (bytes.length - at >= 2 && bytes[at] === 0x0d && bytes[at + 1] === 0x0a) {
      this.#complete([], at + 2 === bytes.length)
      return at + 2
    }
    const end = bytes.indexOf(endOfHead, at)
    if ((end < 0 ? bytes.length - 3 : end) - at > this.#maxHeadBytes) {
      throw new AnswerFault('the trailers are too large', UpstreamFault.TooLarge)
    }
    if (end < 0) return undefined
    const text = bytes.toString('latin1', at, end + 2)
    if (!trailerLines.test(text) || framingLine.test(text))
      throw new AnswerFault('the trailers are not valid')
    this.#complete(splitFieldLines(text, 0), end + 4 === bytes.length)
    return end + 4
  }

  /**
   * `exact`: no bytes came after the answer. Bytes that nobody asked for must not be taken for an answer.
   */
  #complete(trailers: readonly string[], exact: boolean): void {
    const handler = this.#handler
    this.stop()
    this.reusable &&= exact
    handler?.complete(trailers)
  }
}

interface Framing {
  length: number | undefined
  coding: string | undefined
  closes: boolean
  keepsAlive: boolean
  keptIdleMs: number
}

function readFraming(fields: readonly string[], isVersion11: boolean): Framing {
  const found: Framing = {
    length: undefined,
    coding: undefined,
    closes: false,
    keepsAlive: isVersion11,
    keptIdleMs: Infinity,
  }
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? ''
    // Most names are known to be others by their length.
    const { length } = name
    if (length !== 10 && length !== 14 && length !== 16 && length !== 17) continue
    readFramingField(found, name.toLowerCase(), fields[index + 1] ?? '')
  }
  const { length, coding } = found
  if (coding !== undefined && (length !== undefined || !isVersion11 || coding.toLowerCase() !== 'chunked')) {
    throw new AnswerFault('the length of the body is not clear')
  }
  return found
}

function readFramingField(found: Framing, name: string, value: string): void {
  if (name === 'content-length') {
    if (found.length !== undefined || !digits.test(value)) throw new AnswerFault('the length is not valid')
    found.length = Number(value)
  } else if (name === 'transfer-encoding') {
    if (found.coding !== undefined) throw new AnswerFault('the body is coded twice')
    found.coding = value
  } else if (name === 'connection' || name === 'proxy-connection') {
    const lower = value.toLowerCase()
    if (/(?:^|[,\s])close(?:$|[,\s])/.test(lower)) found.closes = true
    else if (/(?:^|[,\s])keep-alive(?:$|[,\s])/.test(lower)) found.keepsAlive = true
  } else if (name === 'keep-alive') {
    const seconds = keepAliveHint.exec(value)?.[1]
    if (seconds !== undefined) found.keptIdleMs = Number(seconds) * 1_000
  }
}
