import { Duplex } from 'node:stream'
import type { Readable } from 'node:stream'

/** The stream over which the bytes go. */
export interface Carrier {
  readonly body: Readable
  write(chunk: Buffer): boolean
  onDrain(listener: () => void): void
  endAnswer(): void
  cancel(): void
}

/** The bytes of a WebSocket over a stream, both ways (RFC 8441). */
export class Http2Tunnel extends Duplex {
  readonly #stream: Carrier
  #written: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(stream: Carrier) {
    super()
    this.#stream = stream
    stream.onDrain(() => {
      const written = this.#written
      this.#written = undefined
      written?.()
    })
    stream.body.on('data', (bytes: Buffer) => {
      this.#timer?.refresh()
      if (!this.push(bytes)) stream.body.pause()
    })
    stream.body.on('end', () => this.push(null))
  }

  /** Calls back once nothing has passed for a while. */
  setTimeout(limitMs: number, onIdle: () => void): void {
    this.#timer = setTimeout(onIdle, limitMs)
  }

  override _read(): void {
    this.#stream.body.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#timer?.refresh()
    if (this.#stream.write(chunk)) done()
    else this.#written = done
  }

  override _final(done: () => void): void {
    this.#stream.endAnswer()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer)
    this.#stream.cancel()
    done(error)
  }
}
