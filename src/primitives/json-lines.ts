/**
 * A line is longer than its reader permits, or is not a JSON object. The reader should not trust the sender
 * any more.
 */
export class LineError extends Error {
  override readonly name = 'LineError'
}

const newline = 0x0a

/**
 * Splits a stream of bytes into lines of JSON. A line is kept only up to `maxBytes`, so a sender without
 * newlines can not make the reader use more memory. The caller checks what the lines mean, and whether their
 * fields are right.
 */
export class JsonLineReader {
  readonly #maxBytes: number
  #rest: Buffer = Buffer.alloc(0)

  constructor(options: { readonly maxBytes: number }) {
    this.#maxBytes = options.maxBytes
  }

  /** Returns the objects that are complete with this chunk. Throws `LineError`. */
  push(chunk: Buffer): readonly object[] {
    const found: object[] = []
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline)) {
      if (end > this.#maxBytes) throw this.#tooLong()
      found.push(parse(bytes.subarray(0, end)))
      bytes = bytes.subarray(end + 1)
    }
    if (bytes.length > this.#maxBytes) throw this.#tooLong()
    this.#rest = Buffer.from(bytes)
    return found
  }

  #tooLong(): LineError {
    return new LineError(`a line has more than ${this.#maxBytes} bytes`)
  }
}

export function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`
}

function parse(line: Buffer): object {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    if (typeof value === 'object' && value !== null) return value
  } catch (error) {
    throw new LineError('a line is not JSON', { cause: error })
  }
  throw new LineError('a line is no JSON object')
}
