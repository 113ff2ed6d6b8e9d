import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import { ApiFailure } from '../../client/api-failure.ts'
import { isAborted } from '../../client/client.ts'
import { ExecClose, ExecStream, maxExecMessageBytes } from '../../domain/instance/exec-protocol.ts'
import type { ExecCommand, ExecNews } from '../../domain/instance/exec-protocol.ts'
import { visibleText } from '../../domain/plain-text.ts'
import { CommandFailure } from '../command-failure.ts'
import type { Session } from '../session.ts'
import { openExec } from './exec-socket.ts'

/** The most connections at one port of this machine; the API has smaller bounds of its own. */
const maxConnections = 256
/** A side that has so many bytes of the other one still to send is slow, and the other one waits. */
const maxUnsentBytes = 256 * 1024
const maxPieceBytes = maxExecMessageBytes - 1

export interface TunnelPorts {
  /** The port of this machine; 0: one that is free. */
  readonly local: number
  readonly port: number
}

interface TunnelOptions extends TunnelPorts {
  readonly instance: string
  readonly address: string
}

/** A port of this machine that leads to one in an instance. */
export class Tunnel {
  readonly #session: Session
  readonly #options: TunnelOptions
  readonly #server: Server
  readonly #clients = new Set<Socket>()
  readonly #sockets = new Set<WebSocket>()
  #isClosed = false
  readonly #over = Promise.withResolvers<string>()

  constructor(session: Session, options: TunnelOptions) {
    this.#session = session
    this.#options = options
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (client) => {
      this.#clients.add(client)
      client.on('error', () => undefined)
      client.once('close', () => this.#clients.delete(client))
      void this.#connect(client)
    })
    this.#server.maxConnections = maxConnections
  }

  get port(): number {
    return this.#options.port
  }

  get localPort(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Throws `CommandFailure` if the port can not be had. */
  async listen(): Promise<void> {
    const { local, port, address } = this.#options
    this.#server.listen(local, address)
    try {
      await once(this.#server, 'listening')
    } catch (cause) {
      const why = (cause as Error).message
      throw new CommandFailure(
        `${address}:${local} can not be had (${why}); give another one: <local>:${port}`,
        {
          cause,
        },
      )
    }
  }

  /** Resolves with a sentence when the instance takes no more connections. Throws when `signal` aborts. */
  async ended(signal: AbortSignal): Promise<string> {
    const aborted = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => aborted.reject(signal.reason as Error), { once: true })
    return await Promise.race([this.#over.promise, aborted.promise])
  }

  close(): void {
    this.#isClosed = true
    this.#server.close()
    for (const client of this.#clients) client.destroy()
    for (const socket of this.#sockets) socket.terminate()
  }

  async #connect(client: Socket): Promise<void> {
    const { instance, port } = this.#options
    try {
      const socket = await openExec(this.#session.access, instance, 'connect')
      if (client.destroyed) return socket.terminate()
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      join(client, socket, {
        port,
        note: (text) => this.#note(text),
        ended: (reason) => this.#over.resolve(reason),
      })
    } catch (error) {
      client.resetAndDestroy()
      if (!(error instanceof ApiFailure)) throw error
      if (!isAborted(error)) this.#note(error.message)
    }
  }

  #note(text: string): void {
    // The end of the tunnel is no news about its connections.
    if (this.#isClosed) return
    this.#session.deps.note(`roost: port ${String(this.#options.port)}: ${visibleText(text)}\n`)
  }
}

interface Ends {
  readonly port: number
  readonly note: (text: string) => void
  /** The instance does not run any more. */
  readonly ended: (reason: string) => void
}

/** Carries one connection, and the end of each of its directions. */
function join(client: Socket, socket: WebSocket, { port, note, ended }: Ends): void {
  let isLeft = false
  const tell = (command: ExecCommand) => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(command))
  }
  let isDone = false
  socket.on('error', () => undefined)
  socket.on('message', (data: RawData, isBinary) => {
    const bytes = data as Buffer
    if (!isBinary) {
      const news = JSON.parse(bytes.toString('utf8')) as ExecNews
      if (news.type === 'output_ended') client.end()
      if (news.type === 'exit') isDone = true
      if (news.type === 'failed') note(news.message)
    } else if (bytes[0] === ExecStream.Output && client.writable) {
      // Messages that had been received before the pause still come.
      if (client.write(bytes.subarray(1)) || socket.isPaused) return
      socket.pause()
      client.once('drain', () => socket.resume())
    }
  })
  socket.once('close', (code, reason) => {
    // What the application has sent still leaves.
    if (isDone) return client.destroySoon()
    client.resetAndDestroy()
    if (isLeft) return
    const why = reason.toString('utf8') || `the connection broke (${String(code)})`
    if (code === ExecClose.NotRunning) ended(why)
    else if (code !== ExecClose.Done) note(why)
  })
  client.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += maxPieceBytes) {
      const piece = bytes.subarray(at, at + maxPieceBytes)
      socket.send(Buffer.concat([Buffer.from([ExecStream.Input]), piece]), () => {
        if (socket.bufferedAmount <= maxUnsentBytes && !client.destroyed) client.resume()
      })
    }
    if (socket.bufferedAmount > maxUnsentBytes) client.pause()
  })
  client.once('end', () => tell({ type: 'end_of_input' }))
  client.once('close', (hadError) => {
    isLeft = true
    socket.resume()
    // A client that has ended both directions leaves bytes behind that are still on their way.
    if (hadError || !client.readableEnded) socket.terminate()
  })
  tell({ type: 'connect', port })
  client.resume()
}
