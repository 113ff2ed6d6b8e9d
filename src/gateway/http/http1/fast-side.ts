import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { ClientConnection } from '../client-connection.ts'
import type { ClientSide } from '../client-side.ts'
import type { FastBody } from './fast-body.ts'
import { joinFieldLines } from '../field-lines.ts'
import { dateLine } from '../http-date.ts'
import { writeInTurn } from '../turn-writes.ts'
import { withCopy } from '../upstream/lent-copies.ts'

/**
 * The largest piece of a body that is written in one string with what comes before it, which is cheaper
 * than two pieces. Each byte becomes one character.
 */
const maxMergedBytes = 8_192

const noBody = Readable.from([])

/**
 * One request of an HTTP/1.1 client on the fast road. What belongs in one packet is collected until the
 * end of the answer, or until `flush`.
 */
export class FastSide implements ClientSide {
  readonly connection: ClientConnection
  headGiven = false
  /** Bytes that the client sent ahead of the answer. */
  aheadBytes = 0
  readonly #socket: Socket
  readonly #body: FastBody | undefined
  readonly #isHead: boolean
  readonly #keepAliveSeconds: number
  readonly #onEnd: (keepsAlive: boolean) => void
  #keepsAlive: boolean
  #hasBody = true
  #isChunked = false
  /** The head, and what follows it, that is not written yet. */
  #text = ''
  #onDrain: (() => void) | undefined

  constructor(options: {
    readonly socket: Socket
    readonly connection: ClientConnection
    readonly body: FastBody | undefined
    readonly isHead: boolean
    readonly keepsAlive: boolean
    readonly keepAliveMs: number
    readonly onEnd: (keepsAlive: boolean) => void
  }) {
    this.#socket = options.socket
    this.connection = options.connection
    this.#body = options.body
    this.#isHead = options.isHead
    this.#keepsAlive = options.keepsAlive
    this.#keepAliveSeconds = Math.floor(options.keepAliveMs / 1_000)
    this.#onEnd = options.onEnd
  }

  get body(): Readable {
    return this.#body ?? noBody
  }

  get heldBytes(): number {
    return (this.#body?.readableLength ?? 0) + this.#socket.writableLength + this.aheadBytes
  }

  trailers(): readonly string[] {
    return []
  }

  /** Does nothing, because a request that waits to be told takes the full road. */
  continue(): void {}

  inform(status: number, fields: readonly string[]): void {
    this.#socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${joinFieldLines(fields)}\r\n`,
      'latin1',
    )
  }

  abandonBody(): void {
    if (!this.#isBodyIn()) this.#keepsAlive = false
  }

  head(status: number, reason: string, fields: string[]): void {
    this.headGiven = true
    let hasLength = false
    let hasDate = false
    let lines = ''
    for (let index = 0; index < fields.length; index += 2) {
      const name = fields[index] ?? ''
      lines += `${name}: ${fields[index + 1] ?? ''}\r\n`
      if (name.length === 14 && name.toLowerCase() === 'content-length') hasLength = true
      else if (name.length === 4 && name.toLowerCase() === 'date') hasDate = true
    }
    this.#hasBody = !this.#isHead && status !== 204 && status !== 304
    this.#isChunked = this.#hasBody && !hasLength
    this.#text = `HTTP/1.1 ${status} ${reason}\r\n${lines}${hasDate ? '' : dateLine()}${
      this.#keepsAlive
        ? `Connection: keep-alive\r\nKeep-Alive: timeout=${this.#keepAliveSeconds}\r\n`
        : 'Connection: close\r\n'
    }${this.#isChunked ? 'Transfer-Encoding: chunked\r\n\r\n' : '\r\n'}`
  }

  flush(): void {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    writeInTurn(this.#socket, text)
  }

  write(chunk: Buffer): boolean {
    if (!this.#hasBody || chunk.length === 0) return true
    const isMerged = this.#text !== '' && chunk.length + this.#text.length <= maxMergedBytes
    if (this.#isChunked) this.#text += `${chunk.length.toString(16)}\r\n`
    if (isMerged) {
      this.#text += chunk.toString('latin1')
      if (this.#isChunked) this.#text += '\r\n'
      return true
    }
    this.#socket.cork()
    this.flush()
    const isTaken = withCopy(chunk, (copy, done) => this.#socket.write(copy, done))
    if (this.#isChunked) this.#socket.write('\r\n', 'latin1')
    this.#socket.uncork()
    return isTaken
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
    this.#socket.on('drain', listener)
  }

  end(trailers?: readonly string[]): void {
    if (this.#isChunked) this.#text += `0\r\n${joinFieldLines(trailers ?? [])}\r\n`
    this.flush()
    if (this.#onDrain !== undefined) this.#socket.off('drain', this.#onDrain)
    this.#onEnd(this.#keepsAlive && this.#isBodyIn())
  }

  breakOff(): void {
    this.#text = ''
    this.#socket.destroy()
  }

  #isBodyIn(): boolean {
    return this.#body === undefined || this.#body.left === 0
  }
}
