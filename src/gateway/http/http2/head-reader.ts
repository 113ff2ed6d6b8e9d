import { Flag, badFrame, badSize, tooMuch } from './frames.ts'
import { uint31 } from './frame-reader.ts'
import { HpackDecoder } from './hpack-decoder.ts'

/** The size of the table for compressed fields, as long as no setting says another. */
const tableBytes = 4_096
/** The most bytes of a block of fields, as it is coded. A larger one can not be read to its end. */
const maxBlockBytes = 64 << 10
/** The most frames in which a block comes. */
const maxFrames = 32
const priorityBytes = 5

/** The fields at the beginning or the end of a request. */
export interface Fields {
  readonly stream: number
  /** Whether the stream ends with them. */
  readonly ended: boolean
  readonly list: string[] | 'too-large'
}

/** Puts blocks of fields together and decodes them. */
export class HeadReader {
  readonly #decoder = new HpackDecoder({ maxTableBytes: tableBytes })
  readonly #maxBytes: number
  /** The stream of a block that is not complete, or 0. */
  openStream = 0
  #ended = false
  #parts: Buffer[] = []
  #bytes = 0

  /** `maxBytes`: the most that fields may have without their compression. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Takes a HEADERS frame. Returns its fields if they are complete. */
  begin(flags: number, stream: number, bytes: Buffer, from: number, to: number): Fields | undefined {
    let block = unpadded(flags, bytes, from, to)
    if ((flags & Flag.Priority) !== 0) {
      if (block.length < priorityBytes) throw badSize('a head is too short for its priority')
      checkDependency(stream, block, 0)
      block = block.subarray(priorityBytes)
    }
    const ended = (flags & Flag.EndStream) !== 0
    if ((flags & Flag.EndHeaders) !== 0) return this.#decode(stream, ended, block)
    this.openStream = stream
    this.#ended = ended
    this.#add(block)
    return undefined
  }

  /** Takes a CONTINUATION frame. Returns the fields if they are complete. */
  continue(flags: number, part: Buffer): Fields | undefined {
    if (this.openStream === 0) throw badFrame('no head goes on')
    this.#add(part)
    if ((flags & Flag.EndHeaders) === 0) return undefined
    const stream = this.openStream
    const block = Buffer.concat(this.#parts)
    this.openStream = 0
    this.#parts = []
    this.#bytes = 0
    return this.#decode(stream, this.#ended, block)
  }

  #add(part: Buffer): void {
    this.#bytes += part.length
    this.#parts.push(Buffer.from(part))
    if (this.#bytes > maxBlockBytes || this.#parts.length > maxFrames)
      throw tooMuch('a head is much too large')
  }

  #decode(stream: number, ended: boolean, block: Buffer): Fields {
    return { stream, ended, list: this.#decoder.decode(block, this.#maxBytes) }
  }
}

/** Returns what stands in a frame without its padding. */
export function unpadded(flags: number, bytes: Buffer, from: number, to: number): Buffer {
  if ((flags & Flag.Padded) === 0) return bytes.subarray(from, to)
  if (from === to) throw badSize('a frame is too short for its padding')
  const end = to - (bytes[from] ?? 0)
  if (end <= from) throw badFrame('a padding is longer than its frame')
  return bytes.subarray(from + 1, end)
}

export function checkPriority(stream: number, bytes: Buffer, from: number, to: number): void {
  if (stream === 0) throw badFrame('a priority is for no stream')
  if (to - from !== priorityBytes) throw badSize('a priority has 5 bytes')
  checkDependency(stream, bytes, from)
}

/** RFC 9113 has no priorities any more. A stream that depends on itself is an error of RFC 7540. */
function checkDependency(stream: number, bytes: Buffer, at: number): void {
  if (uint31(bytes, at) === stream) throw badFrame('a stream depends on itself')
}
