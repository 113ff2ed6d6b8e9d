import { once } from 'node:events'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { testHost } from './gateway-http.ts'
import { until } from './until.ts'

export const FrameType = {
  Data: 0,
  Headers: 1,
  Priority: 2,
  Reset: 3,
  Settings: 4,
  Ping: 6,
  GoAway: 7,
  WindowUpdate: 8,
} as const
export type FrameType = (typeof FrameType)[keyof typeof FrameType]

const headBytes = 9
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const ackFlag = 1
const endStreamFlag = 1
const endHeadersFlag = 4
const limitMs = 10_000

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** A client of HTTP/2 that sends any frame, also one that no library would send. */
export class FrameClient {
  readonly received: Frame[] = []
  closed = false
  readonly #socket: TLSSocket
  #rest = Buffer.alloc(0)

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('error', () => undefined)
    socket.on('close', () => (this.closed = true))
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  /** Connects. Resolves when both sides have acknowledged each other's settings. */
  static async connect(port: number): Promise<FrameClient> {
    const socket = connect({
      port,
      host: '127.0.0.1',
      servername: testHost,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
    })
    await once(socket, 'secureConnect')
    const client = new FrameClient(socket)
    socket.write(preface)
    client.send({ type: FrameType.Settings })
    client.send({ type: FrameType.Settings, flags: ackFlag })
    await client.got(({ type, flags }) => type === FrameType.Settings && flags === ackFlag)
    return client
  }

  send(frame: {
    readonly type: FrameType
    readonly flags?: number
    readonly stream?: number
    readonly payload?: Buffer
  }): void {
    const payload = frame.payload ?? Buffer.alloc(0)
    const head = Buffer.alloc(headBytes)
    head.writeUIntBE(payload.length, 0, 3)
    head[3] = frame.type
    head[4] = frame.flags ?? 0
    head.writeUInt32BE(frame.stream ?? 0, 5)
    this.#socket.write(Buffer.concat([head, payload]))
  }

  /** Sends `GET /` for the test's host. With `body` the stream stays open for a body. */
  request(stream: number, over: { readonly body?: boolean } = {}): void {
    // :method GET, :scheme https and :path / of HPACK's static table; :authority as a literal that is not
    // indexed.
    const payload = Buffer.concat([
      Buffer.from([0x82, 0x87, 0x84, 0x01, testHost.length]),
      Buffer.from(testHost, 'latin1'),
    ])
    const flags = endHeadersFlag | (over.body === true ? 0 : endStreamFlag)
    this.send({ type: FrameType.Headers, flags, stream, payload })
  }

  data(stream: number): void {
    this.send({ type: FrameType.Data, flags: endStreamFlag, stream, payload: Buffer.from('late') })
  }

  reset(stream: number): void {
    this.send({ type: FrameType.Reset, stream, payload: Buffer.from([0, 0, 0, 8]) })
  }

  priority(stream: number, dependsOn: number): void {
    const payload = Buffer.alloc(5)
    payload.writeUInt32BE(dependsOn)
    this.send({ type: FrameType.Priority, stream, payload })
  }

  window(stream: number, increment: number): void {
    const payload = Buffer.alloc(4)
    payload.writeUInt32BE(increment)
    this.send({ type: FrameType.WindowUpdate, stream, payload })
  }

  async got(wanted: (frame: Frame) => boolean): Promise<Frame> {
    return await until('the frame came', () => this.received.find(wanted), { limitMs })
  }

  /** Resolves when the other side has ended its answer on this stream. */
  async answered(stream: number): Promise<void> {
    await this.got((frame) => frame.stream === stream && (frame.flags & endStreamFlag) !== 0)
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
    await until('the connection is closed', () => this.closed, { limitMs })
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    while (this.#rest.length >= headBytes) {
      const end = headBytes + this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < end) return
      this.received.push({
        type: this.#rest[3] ?? 0,
        flags: this.#rest[4] ?? 0,
        stream: this.#rest.readUInt32BE(5),
        payload: this.#rest.subarray(headBytes, end),
      })
      this.#rest = this.#rest.subarray(end)
    }
  }
}
