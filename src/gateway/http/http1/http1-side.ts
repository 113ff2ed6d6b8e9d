import { ServerResponse } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex, Readable } from 'node:stream'
import type { ClientConnection } from '../client-connection.ts'
import { flushSoon } from '../client-side.ts'
import { joinFieldLines } from '../field-lines.ts'
import type { UpgradableSide } from '../forward/websocket-forward.ts'

/**
 * The largest body that is written in one string with its head, which is cheaper than two pieces. Each byte
 * becomes one character.
 */
const maxMergedBytes = 4_096

const ignore = (): void => undefined

/**
 * One request of an HTTP/1.1 client. Writes that belong in one packet are collected until the end of the
 * event loop's turn.
 */
export class Http1Side implements UpgradableSide {
  readonly connection: ClientConnection
  readonly upgradeStatus = 101
  readonly #response: ServerResponse
  readonly #request: IncomingMessage
  readonly #lingerMs: number
  headGiven = false
  /** A chunk that was not yet written to the response. It may be the whole body. */
  #held: Buffer | undefined
  #flushed = false

  constructor(options: {
    readonly request: IncomingMessage
    readonly response: ServerResponse
    readonly connection: ClientConnection
    readonly lingerMs: number
  }) {
    this.#request = options.request
    this.#response = options.response
    this.connection = options.connection
    this.#lingerMs = options.lingerMs
    // The connection itself reports its end.
    this.#response.on('error', ignore)
  }

  get body(): Readable {
    return this.#request
  }

  get heldBytes(): number {
    return this.#request.readableLength + this.#response.writableLength
  }

  trailers(): readonly string[] {
    return this.#request.rawTrailers
  }

  continue(): void {
    this.#response.writeContinue()
  }

  inform(status: number, fields: readonly string[]): void {
    if (this.#request.httpVersionMinor === 0) return
    this.#response.writeInformation(status, [...fields])
  }

  abandonBody(): void {
    if (!this.#bodyIsOut()) this.#response.shouldKeepAlive = false
  }

  head(status: number, reason: string, fields: string[]): void {
    this.#response.writeHead(status, reason, fields)
    this.headGiven = true
    flushSoon(this)
  }

  flush(): void {
    if (this.#flushed) return
    this.#flushed = true
    const held = this.#held
    this.#held = undefined
    if (held === undefined) this.#response.flushHeaders()
    else this.#response.write(held)
  }

  write(chunk: Buffer): boolean {
    if (!this.#flushed && this.#held === undefined) {
      this.#held = Buffer.from(chunk)
      return true
    }
    this.flush()
    return this.#response.write(Buffer.from(chunk))
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', listener)
  }

  end(trailers?: readonly string[]): void {
    if (trailers !== undefined && trailers.length > 0) this.#response.addTrailers(pairs(trailers))
    if (!this.#bodyIsOut()) return this.#linger()
    const held = this.#held
    this.#flushed = true
    this.#held = undefined
    if (held === undefined) this.#response.end()
    else if (held.length <= maxMergedBytes) this.#response.end(held.toString('latin1'), 'latin1')
    else this.#response.end(held)
  }

  breakOff(): void {
    this.#flushed = true
    this.#response.destroy()
  }

  upgrade(fields: readonly string[]): Duplex {
    const { socket } = this.#request
    this.headGiven = true
    this.#flushed = true
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
    this.#response.detachSocket(socket)
    socket.write(`${head}${joinFieldLines(fields)}\r\n`, 'latin1')
    return socket
  }

  /**
   * Whether the request's body has been read. A request without a body is complete, although its parser
   * says so only after its head was handled.
   */
  #bodyIsOut(): boolean {
    const { complete, headers } = this.#request
    if (complete || this.connection.failed) return true
    return headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0'
  }

  /**
   * Reads and drops the rest of the request for a while, then ends the connection. Closing while the client
   * still sends would reset the connection, perhaps before the client has read the answer. The connection
   * has to end, because a next request could not be told from the body.
   */
  #linger(): void {
    this.flush()
    this.#response.shouldKeepAlive = false
    const end = (): void => {
      clearTimeout(limit)
      this.#response.end()
      this.#request.socket.destroySoon()
    }
    const limit = setTimeout(end, this.#lingerMs)
    this.#request.once('end', end)
    this.#request.once('close', end)
    this.#request.resume()
  }
}

/** The response to a request that asked for an upgrade, which may be refused in ordinary HTTP. */
export function upgradeResponse(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.destroySoon())
  return response
}

function pairs(flat: readonly string[]): [string, string][] {
  const found: [string, string][] = []
  for (let index = 0; index < flat.length; index += 2) found.push([flat[index] ?? '', flat[index + 1] ?? ''])
  return found
}
