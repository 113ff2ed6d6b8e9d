import { Flag, FrameType, frameBytes, preface, settingsOf, uint32 } from './http2-frames.ts'
import { HpackGenerator } from './hpack-generator.ts'
import { mutated } from './mutated-bytes.ts'
import type { Tape } from './tape.ts'

type Field = readonly [name: string, value: string]

const methods = ['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'CONNECT', 'get', 'G T', ''] as const
const paths = [
  '/',
  '/a?b=c',
  '/index.html',
  '/%20x',
  '*',
  '',
  'a',
  'http://app.test/',
  '/a b',
  '/\x00',
] as const
const schemes = ['https', 'http', 'ftp', ''] as const
const authorities = ['app.test', 'app.test:443', 'other.test', '', 'app test'] as const
const names = ['accept', 'cookie', 'x-a', 'x-b', 'user-agent', 'te', 'host', 'content-type'] as const
const oddNames = ['X-Upper', 'connection', 'transfer-encoding', 'a b', '', 'x:y', ':path', ':other'] as const
const values = ['', 'a', 'trailers', 'text/plain', 'a, b', 'x'.repeat(200), 'caf\xe9', '0'] as const
const oddValues = [' a', 'a ', 'a\nb', 'a\r', '\x00', '\x7f', '\ta', 'keep-alive'] as const

/** A connection of a client, and whether each of its frames is as it should be. */
export interface GeneratedConnection {
  readonly bytes: Buffer
  readonly isIntact: boolean
}

/** Makes the bytes of a connection of HTTP/2: several requests, with everything that may stand between. */
export function connectionFrom(tape: Tape): GeneratedConnection {
  const writer = new ConnectionWriter(tape)
  const whole = Buffer.concat([Buffer.from(preface), ...writer.frames()])
  const bytes = mutated(whole, tape)
  return { bytes, isIntact: bytes === whole && !writer.isOdd }
}

class ConnectionWriter {
  /** Whether something was written that is not allowed, or that depends on a stream's state. */
  isOdd = false
  readonly #tape: Tape
  readonly #hpack: HpackGenerator
  #nextStream = 1
  #open: number[] = []

  constructor(tape: Tape) {
    this.#tape = tape
    this.#hpack = new HpackGenerator(tape)
  }

  frames(): Buffer[] {
    const frames = [frameBytes({ type: FrameType.Settings, payload: this.#settings() })]
    for (let count = 1 + this.#tape.below(8); count > 0; count--) frames.push(...this.#some())
    return frames
  }

  #some(): Buffer[] {
    switch (this.#tape.below(8)) {
      case 3:
      case 4:
      case 5:
        return this.#data()
      case 6:
        return this.#trailers()
      case 7:
        return [this.#other()]
      default:
        return this.#request()
    }
  }

  #odd<T>(choices: readonly [T, ...T[]]): T {
    this.isOdd = true
    return this.#tape.pick(choices)
  }

  #request(): Buffer[] {
    const tape = this.#tape
    const method = tape.oneIn(16) ? this.#odd(methods) : (methods[tape.below(6)] ?? 'GET')
    const path = tape.oneIn(16) ? this.#odd(paths) : (paths[tape.below(4)] ?? '/')
    const pseudo: Field[] = [
      [':method', method],
      [':scheme', tape.oneIn(16) ? this.#odd(schemes) : 'https'],
      [':authority', tape.oneIn(16) ? this.#odd(authorities) : 'app.test'],
      [':path', path],
    ]
    if (tape.oneIn(32)) pseudo.splice(this.#odd([0, 1, 2, 3]), 1)
    if (tape.oneIn(32))
      pseudo.push(
        this.#odd([
          [':method', 'GET'],
          [':protocol', 'websocket'],
          [':status', '200'],
        ]),
      )
    const fields = [...pseudo, ...this.#fields()]
    if (tape.oneIn(32)) fields.unshift(...fields.splice(this.#odd([1, 2, 3, 4]), 1))
    const stream = tape.oneIn(32) ? this.#odd([0, 2, 1, 3]) : this.#nextStream
    this.#nextStream = Math.max(this.#nextStream, stream) + 2 + (tape.oneIn(8) ? 2 : 0)
    const ended = tape.below(2) === 0
    if (!ended) {
      this.#open.push(stream)
      if (tape.oneIn(4)) fields.push(['content-length', this.#odd(['0', '1', '5', '5x', '-1', '12'])])
    }
    return this.#headers(stream, fields, ended)
  }

  #fields(): Field[] {
    const tape = this.#tape
    return Array.from({ length: tape.below(5) }, () => {
      const name = tape.oneIn(24) ? this.#odd(oddNames) : tape.pick(names)
      const value = tape.oneIn(24) ? this.#odd(oddValues) : tape.pick(values)
      // These two have values that are checked.
      if (name === 'te') return [name, 'trailers']
      return name === 'host' ? [name, 'app.test'] : [name, value]
    })
  }

  #headers(stream: number, fields: readonly Field[], ended: boolean): Buffer[] {
    const tape = this.#tape
    let first = this.#hpack.block(fields)
    const rest: Buffer[] = []
    if (tape.oneIn(6)) {
      const at = tape.below(first.length)
      rest.push(first.subarray(at))
      first = first.subarray(0, at)
    }
    let bits = ended ? Flag.EndStream : 0
    if (rest.length === 0) bits |= Flag.EndHeaders
    if (tape.oneIn(8)) {
      first = Buffer.concat([
        Buffer.from([0, 0, 0, tape.oneIn(8) ? this.#odd([stream]) : 0, tape.next()]),
        first,
      ])
      bits |= Flag.Priority
    }
    const padding = this.#padded(first)
    return [
      frameBytes({ type: FrameType.Headers, flags: bits | padding.flags, stream, payload: padding.payload }),
      ...rest.map((payload) =>
        frameBytes({ type: FrameType.Continuation, flags: Flag.EndHeaders, stream, payload }),
      ),
    ]
  }

  #padded(payload: Buffer): { readonly flags: number; readonly payload: Buffer } {
    if (!this.#tape.oneIn(6)) return { flags: 0, payload }
    const length = this.#tape.below(20)
    return {
      flags: Flag.Padded,
      payload: Buffer.concat([Buffer.from([length]), payload, Buffer.alloc(length)]),
    }
  }

  #openStream(): number | undefined {
    return this.#tape.oneIn(24)
      ? this.#odd([0, 1, 3, 2, 99])
      : this.#open[this.#tape.below(this.#open.length || 1)]
  }

  #data(): Buffer[] {
    const stream = this.#openStream()
    if (stream === undefined) return this.#request()
    const { flags: bits, payload } = this.#padded(Buffer.alloc(this.#tape.below(13), 'body'))
    const ended = this.#tape.below(2) === 1
    if (ended) this.#close(stream)
    return [frameBytes({ type: FrameType.Data, flags: bits | (ended ? Flag.EndStream : 0), stream, payload })]
  }

  #trailers(): Buffer[] {
    const stream = this.#openStream()
    if (stream === undefined) return this.#request()
    this.#close(stream)
    return this.#headers(stream, this.#fields(), !this.#tape.oneIn(8) || this.#odd([false]))
  }

  #close(stream: number): void {
    this.#open = this.#open.filter((one) => one !== stream)
  }

  #other(): Buffer {
    const tape = this.#tape
    switch (tape.below(9)) {
      case 0:
        return frameBytes({ type: FrameType.Ping, payload: Buffer.from('pingpong') })
      case 1:
        return frameBytes({ type: FrameType.Settings, payload: this.#settings() })
      case 2:
        return frameBytes({ type: FrameType.WindowUpdate, payload: uint32(1 + tape.below(60_000)) })
      case 3:
        return frameBytes({ type: 0xfa, stream: tape.below(9), payload: Buffer.from('other') })
      case 4:
        return frameBytes({ type: FrameType.Priority, stream: 1 + tape.below(9), payload: Buffer.alloc(5) })
      case 5:
        return frameBytes({ type: FrameType.Settings, flags: this.#odd([1]) })
      default: {
        // What these do depends on the state of the stream.
        const stream = this.#odd([1, 3, 5, 7, 0])
        const payload = uint32(tape.below(300))
        if (tape.below(2) === 0) return frameBytes({ type: FrameType.WindowUpdate, stream, payload })
        this.#close(stream)
        return frameBytes({ type: FrameType.Reset, stream, payload })
      }
    }
  }

  #settings(): Buffer {
    const tape = this.#tape
    return settingsOf(
      ...Array.from(
        { length: tape.below(3) },
        () => [tape.pick([4, 1, 3, 0x99]), tape.below(65_536)] as const,
      ),
    )
  }
}
