import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import type { RawData } from 'ws'
import { ExecStream } from '../../src/domain/instance/exec-protocol.ts'
import type { ExecCommand, ExecNews } from '../../src/domain/instance/exec-protocol.ts'

const limitMs = 30_000

/** A client of `/exec` that collects what it gets. */
export class ExecClient {
  readonly socket: WebSocket
  readonly news: ExecNews[] = []
  stdout = ''
  stderr = ''
  readonly #closed: Promise<readonly [number, string]>

  private constructor(socket: WebSocket) {
    this.socket = socket
    this.#closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve([code, reason.toString('utf8')]))
    })
    socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary))
  }

  static async open(url: string, token: string, path: string): Promise<ExecClient> {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const client = new ExecClient(socket)
    await once(socket, 'open')
    return client
  }

  tell(command: ExecCommand | string): void {
    this.socket.send(typeof command === 'string' ? command : JSON.stringify(command))
  }

  input(bytes: string): void {
    this.socket.send(Buffer.from(`\0${bytes}`))
  }

  /** Resolves with the code and the reason of the close. */
  async closed(): Promise<readonly [number, string]> {
    const late = AbortSignal.timeout(limitMs)
    return await Promise.race([
      this.#closed,
      once(late, 'abort').then(() => {
        throw new Error(`no close within ${limitMs} ms`)
      }),
    ])
  }

  #take(data: RawData & Buffer, isBinary: boolean): void {
    if (!isBinary) this.news.push(JSON.parse(data.toString('utf8')) as ExecNews)
    else if (data[0] === ExecStream.Output) this.stdout += data.toString('utf8', 1)
    else this.stderr += data.toString('utf8', 1)
  }
}

/** The answer to a request for an upgrade that is refused. */
export async function refusedUpgrade(
  url: string,
  token: string,
  path: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  return { status: response.statusCode ?? 0, text: await text(response) }
}
