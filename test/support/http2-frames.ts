import { once } from 'node:events'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { testHost } from './gateway-http.ts'
import { plainBlock } from './hpack-writer.ts'

export const FrameType = {
  Data: 0,
  Headers: 1,
  Priority: 2,
  Reset: 3,
  Settings: 4,
  PushPromise: 5,
  Ping: 6,
  GoAway: 7,
  WindowUpdate: 8,
  Continuation: 9,
} as const
export type FrameType = (typeof FrameType)[keyof typeof FrameType]

export const Flag = { EndStream: 1, Ack: 1, EndHeaders: 4, Padded: 8, Priority: 0x20 } as const

/** The codes with which a stream or a connection ends (RFC 9113, 7). */
export const ErrorCode = {
  None: 0,
  Protocol: 1,
  FlowControl: 3,
  StreamClosed: 5,
  FrameSize: 6,
  RefusedStream: 7,
  Cancel: 8,
  Compression: 9,
  EnhanceYourCalm: 11,
} as const
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode]

const headBytes = 9
export const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const ackFlag = Flag.Ack
const endStreamFlag = Flag.EndStream
const endHeadersFlag = Flag.EndHeaders
const limitMs = 8_000

export type FieldList = readonly (readonly [name: string, value: string])[]

/** The pseudo fields of `GET /` for the test's host. */
export const pseudoFields: FieldList = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', testHost],
]

/** What a frame is made of; its type may be one that does not exist. */
export interface SentFrame {
  readonly type: number
  readonly flags?: number
  readonly stream?: number
  readonly payload?: Buffer
}

export function frameBytes({ type, flags = 0, stream = 0, payload = noBytes }: SentFrame): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const noBytes = Buffer.alloc(0)

/** The payload of a frame whose content is one number. */
export function uint32(value: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(value)
  return payload
}

/** The payload of SETTINGS. */
export function settingsOf(...settings: readonly (readonly [setting: number, value: number])[]): Buffer {
  return Buffer.concat(
    settings.map(([setting, value]) => Buffer.concat([uint32(setting).subarray(2), uint32(value)])),
  )
}

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** A client of HTTP/2 that sends any frame, also one that no library would send. */
export class FrameClient {
  closed = false
  readonly #socket: TLSSocket
  readonly #parser = new FrameParser()
  /** Called whenever something came, or the connection closed. */
  readonly #watchers = new Set<() => void>()

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    // Frames that are sent one after the other come together, as long as nobody waits in between.
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.closed = true
      this.#tell()
    })
    socket.on('data', (chunk: Buffer) => {
      this.#parser.take(chunk)
      this.#tell()
    })
  }

  /** Connects. Resolves when both sides have acknowledged each other's settings. */
  static async connect(port: number, settings: Buffer = noBytes): Promise<FrameClient> {
    const client = await FrameClient.open(port)
    client.write(preface)
    client.send({ type: FrameType.Settings, payload: settings })
    client.send({ type: FrameType.Settings, flags: ackFlag })
    await client.got(({ type, flags }) => type === FrameType.Settings && flags === ackFlag)
    return client
  }

  /** Connects, and sends nothing. */
  static async open(port: number): Promise<FrameClient> {
    const socket = connect({
      port,
      host: '127.0.0.1',
      servername: testHost,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
    })
    await once(socket, 'secureConnect')
    return new FrameClient(socket)
  }

  /** The frames that came. */
  get received(): readonly Frame[] {
    return this.#parser.frames
  }

  /** The code of the last GOAWAY; undefined if none came. */
  get goAwayCode(): number | undefined {
    return this.received.findLast(({ type }) => type === FrameType.GoAway)?.payload.readUInt32BE(4)
  }

  /** The code with which the other side has reset the stream; undefined if it has not. */
  resetCode(stream: number): number | undefined {
    const reset = this.received.find((frame) => frame.type === FrameType.Reset && frame.stream === stream)
    return reset?.payload.readUInt32BE(0)
  }

  /** Whether the other side has ended its answer on this stream. */
  isAnswered(stream: number): boolean {
    return this.received.some((frame) => frame.stream === stream && isLast(frame))
  }

  /** Reads nothing any more, so that what the other side sends waits there. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Whether bytes wait on this side, because the other one takes no more of them. */
  get isHeldBack(): boolean {
    return this.#socket.writableLength > 0
  }

  write(bytes: string | Buffer): void {
    this.#socket.write(bytes)
  }

  send(frame: SentFrame): void {
    this.#socket.write(frameBytes(frame))
  }

  /** Sends a head of these fields in one frame. With `body` the stream stays open. */
  head(stream: number, fields: FieldList, over: { readonly body?: boolean } = {}): void {
    this.block(stream, plainBlock(fields), over)
  }

  /** Sends a block of HPACK as a head in one frame. */
  block(stream: number, payload: Buffer, over: { readonly body?: boolean } = {}): void {
    const flags = endHeadersFlag | (over.body === true ? 0 : endStreamFlag)
    this.send({ type: FrameType.Headers, flags, stream, payload })
  }

  /** Sends `GET /` for the test's host. With `body` the stream stays open for a body. */
  request(stream: number, over: { readonly body?: boolean } = {}): void {
    this.head(stream, pseudoFields, over)
  }

  data(stream: number): void {
    this.send({ type: FrameType.Data, flags: endStreamFlag, stream, payload: Buffer.from('late') })
  }

  reset(stream: number): void {
    this.send({ type: FrameType.Reset, stream, payload: uint32(ErrorCode.Cancel) })
  }

  priority(stream: number, dependsOn: number): void {
    const weight = Buffer.alloc(1)
    this.send({ type: FrameType.Priority, stream, payload: Buffer.concat([uint32(dependsOn), weight]) })
  }

  window(stream: number, increment: number): void {
    this.send({ type: FrameType.WindowUpdate, stream, payload: uint32(increment) })
  }

  async got(wanted: (frame: Frame) => boolean): Promise<Frame> {
    return this.sees('the frame', () => this.received.find(wanted))
  }

  /** Resolves when the other side has ended its answer on this stream. */
  async answered(stream: number): Promise<void> {
    await this.got((frame) => frame.stream === stream && isLast(frame))
  }

  /**
   * Resolves when the other side has read everything that was sent before. It reads frames in order, so it
   * acknowledges this ping only after them.
   */
  async settled(): Promise<void> {
    const payload = Buffer.from(String(Math.random()).slice(2, 10).padEnd(8, '0'))
    this.send({ type: FrameType.Ping, payload })
    await this.got(({ type, payload: echoed }) => type === FrameType.Ping && echoed.equals(payload))
  }

  async ended(): Promise<void> {
    await this.sees('the end of the connection', () => this.closed)
  }

  /** Resolves with the first result of `look` that is neither false nor undefined. It looks at each frame. */
  async sees<T>(what: string, look: () => T | undefined): Promise<Exclude<T, false | undefined>> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(watch)
        reject(new Error(`not within ${limitMs} ms: ${what}`))
      }, limitMs)
      const watch = (): void => {
        const seen = look()
        if (seen === undefined || seen === false) return
        clearTimeout(timer)
        this.#watchers.delete(watch)
        resolve(seen as Exclude<T, false | undefined>)
      }
      this.#watchers.add(watch)
      watch()
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #tell(): void {
    for (const watch of this.#watchers) watch()
  }
}

/** Takes bytes apart into frames. */
export class FrameParser {
  readonly frames: Frame[] = []
  #rest = Buffer.alloc(0)

  take(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    while (this.#rest.length >= headBytes) {
      const end = headBytes + this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < end) return
      this.frames.push({
        type: this.#rest[3] ?? 0,
        flags: this.#rest[4] ?? 0,
        stream: this.#rest.readUInt32BE(5),
        payload: this.#rest.subarray(headBytes, end),
      })
      this.#rest = this.#rest.subarray(end)
    }
  }
}

function isLast({ type, flags }: Frame): boolean {
  return (type === FrameType.Data || type === FrameType.Headers) && (flags & endStreamFlag) !== 0
}
