import { constants } from 'node:http2'
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import type { Duplex, Readable } from 'node:stream'
import type { ClientConnection } from '../client-connection.ts'
import { flatFields, groupedFields } from '../upstream/server-fields.ts'
import { flushSoon } from '../client-side.ts'
import type { UpgradableSide } from '../forward/websocket-forward.ts'

/** One request of an HTTP/2 client: a stream of its connection. */
export class Http2Side implements UpgradableSide {
  readonly connection: ClientConnection
  readonly upgradeStatus = 200
  readonly #stream: ServerHttp2Stream
  readonly #grpc: boolean
  headGiven = false
  #bodyless = false
  /** The first chunk, if it was not written yet. */
  #held: Buffer | undefined
  #hasWritten = false
  #sendsTrailers = false
  #requestTrailers: readonly string[] = []
  #trailers: readonly string[] = []

  constructor(stream: ServerHttp2Stream, connection: ClientConnection, options: { readonly grpc: boolean }) {
    this.#stream = stream
    this.connection = connection
    this.#grpc = options.grpc
    stream.on('trailers', (trailers: IncomingHttpHeaders) => {
      this.#requestTrailers = flatFields(trailers)
    })
  }

  get body(): Readable {
    return this.#stream
  }

  get heldBytes(): number {
    return this.#stream.readableLength + this.#stream.writableLength
  }

  trailers(): readonly string[] {
    return this.#requestTrailers
  }

  continue(): void {
    if (this.#usable()) this.#stream.additionalHeaders({ ':status': 100 })
  }

  inform(status: number, fields: readonly string[]): void {
    if (this.#usable()) this.#stream.additionalHeaders({ ':status': status, ...groupedFields(fields) })
  }

  abandonBody(): void {}

  head(status: number, _reason: string, fields: string[]): void {
    this.headGiven = true
    if (!this.#usable()) return
    this.#sendsTrailers = this.#grpc || fields.includes('trailer')
    // The fields are given as a list, because Node writes a list as it is. An object would have to be
    // grouped here, and Node would copy it.
    this.#stream.respond([':status', String(status), ...fields], { waitForTrailers: this.#sendsTrailers })
    this.#bodyless = this.#stream.writableEnded
    if (this.#sendsTrailers) {
      this.#stream.on('wantTrailers', () => this.#stream.sendTrailers(groupedFields(this.#trailers)))
    }
  }

  flush(): void {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined && this.#usable()) this.#stream.write(held)
  }

  write(chunk: Buffer): boolean {
    if (this.#bodyless || !this.#usable()) return true
    const copy = Buffer.from(chunk)
    if (this.#hasWritten) {
      this.flush()
      return this.#stream.write(copy)
    }
    // It may be the whole body, which is then sent in one frame with its end.
    this.#hasWritten = true
    this.#held = copy
    flushSoon(this)
    return true
  }

  onDrain(listener: () => void): void {
    this.#stream.on('drain', listener)
  }

  end(trailers?: readonly string[]): void {
    this.#trailers = trailers ?? []
    const stream = this.#stream
    const held = this.#held
    this.#held = undefined
    if (!stream.destroyed && !this.#bodyless) stream.end(held)
    if (stream.readableEnded) return
    // The rest of the request is not needed. If the stream were not closed here, it would wait for that
    // rest.
    if (stream.writableFinished) stream.close(constants.NGHTTP2_NO_ERROR)
    else stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR))
  }

  breakOff(): void {
    // Closing with a code would end the body as if it were complete, and send the code only afterwards.
    this.#stream.destroy(new Error('the answer is broken off'))
  }

  upgrade(fields: readonly string[]): Duplex {
    if (this.#usable()) this.#stream.respond({ ':status': this.upgradeStatus, ...groupedFields(fields) })
    this.headGiven = true
    return this.#stream
  }

  #usable(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed
  }
}
