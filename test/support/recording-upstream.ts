import { createServer } from 'node:net'
import { NodeParser } from './node-parser.ts'
import type { NodeMessage } from './node-parser.ts'
import { Upstream } from './gateway-http-upstream.ts'

const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nreached'

/** An instance that answers every request with the same, and records every byte that it gets. */
export class RecordingUpstream {
  /** What came over each connection, in the order of the connections. */
  readonly received: string[] = []
  readonly #parsers: NodeParser[] = []
  readonly #upstream: Upstream

  private constructor(upstream: Upstream) {
    this.#upstream = upstream
  }

  static async start(): Promise<RecordingUpstream> {
    let recording: RecordingUpstream | undefined
    const server = createServer((socket) => {
      const parser = new NodeParser('requests', 1 << 20)
      parser.begin()
      const index = recording?.received.push('') ?? 0
      if (recording !== undefined) recording.#parsers.push(parser)
      socket.on('error', () => undefined)
      socket.on('data', (chunk: Buffer) => {
        if (recording !== undefined) recording.received[index - 1] += chunk.toString('latin1')
        const before = parser.completeCount
        if (parser.feed(chunk) !== undefined) socket.destroy()
        for (let count = parser.completeCount - before; count > 0; count -= 1) socket.write(answer)
      })
    })
    recording = new RecordingUpstream(await Upstream.listening(server))
    return recording
  }

  get port(): number {
    return this.#upstream.port
  }

  /** The requests that Node reads from the bytes of all connections. */
  get requests(): readonly NodeMessage[] {
    return this.#parsers.flatMap(({ messages }) => messages)
  }

  /** Forgets what came before. The gateway has to use new connections from now on. */
  reset(): void {
    this.received.splice(0)
    this.#parsers.splice(0)
    for (const socket of this.#upstream.sockets) socket.destroy()
  }

  close(): void {
    this.#upstream.close()
  }
}
