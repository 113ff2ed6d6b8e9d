import { connect } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'
import { FrameParser, FrameType, frameBytes } from './http2-frames.ts'
import { Wire } from './nghttp2-server.ts'

/** Node's own client of HTTP/2, which is nghttp2. It tells what it reads of answers. */
export class Nghttp2Client {
  readonly #wire: Wire
  readonly #session: ClientHttp2Session
  #parser = new FrameParser()
  /** Called with the stream of each request that is sent. */
  #onRequest: ((stream: number) => void) | undefined

  constructor() {
    this.#wire = new Wire((bytes) => {
      // What begins with the preface is no frame: it has the settings, which nobody needs here.
      if (bytes.subarray(0, 3).toString() !== 'PRI') this.#parser.take(bytes)
      for (const { type, stream } of this.#parser.frames.splice(0)) {
        if (type === FrameType.Headers) setImmediate(() => this.#onRequest?.(stream))
      }
    })
    this.#session = connect('http://app.test', {
      createConnection: () => this.#wire,
      maxHeaderListPairs: 10_000,
    })
    this.#session.on('error', () => undefined)
    this.#wire.push(frameBytes({ type: FrameType.Settings }))
  }

  /** Resolves when the preface is sent. */
  async ready(): Promise<void> {
    await new Promise((resolve) => this.#session.once('remoteSettings', resolve))
    await new Promise(setImmediate)
  }

  /** Gives it the frames of an answer to its next request. Returns the fields as a flat list. */
  async read(answer: (stream: number) => Buffer): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      this.#onRequest = (stream) => this.#wire.push(answer(stream))
      const stream = this.#session.request({ ':path': '/' })
      stream.on('error', reject)
      stream.on('response', (_headers, _flags, raw) => resolve(raw))
      stream.resume()
    })
  }

  close(): void {
    this.#session.destroy()
    this.#wire.destroy()
  }
}
