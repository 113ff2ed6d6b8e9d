import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'
import type { AgentLog } from '../agent/agent-ports.ts'
import { isHeldFileName, volumeFileName } from './held-copy.ts'
import { sparsePiecesOf } from './sparse-content.ts'
import { transferLimitMs } from './transfers.ts'
import type { HeldSource } from './transfers.ts'

/** The trailer with the checksum of the content, which is known when all of it was read. */
export const checksumTrailer = 'x-content-sha256'
/** How long a connection may carry nothing. Both sides end it then. */
export const transferIdleMs = 20_000
/** How many files are sent at once. More would only share the processor and the wire; others ask again. */
export const transfersAtOnce = 2
/** Compression has to keep up with the wire. Level 1 does 400 MB/s and more per processor. */
const compressionLevel = 1
const pieceBytes = 1024 * 1024
/** Far more than the machines that fetch at once. The filter drops what other machines send. */
const connectionsMax = 64

const routePattern =
  /^\/instances\/([0-9a-f-]{36})\/(copy|taken|files\/([a-z0-9%.-]{1,64}))(?:\?bytes=(\d{1,16})|\?hold=([0-9a-f-]{36}))?$/i

interface Asked {
  readonly source: HeldSource
  readonly instanceUuid: string
  readonly address: string
  readonly response: ServerResponse
}

/**
 * The old host's side of a transfer, as HTTP/1.1 at the machine's own address in the mesh. Who asks is
 * known by the source address: WireGuard takes packets with that address from that machine alone. What is
 * not held for it does not exist for it.
 *
 *   GET  /instances/<uuid>/copy                  -> HeldCopy
 *   GET  /instances/<uuid>/files/<name>?bytes=N  -> the first N bytes, as one zstd stream, with their SHA-256 as the trailer;
 *                                                   503: too many transfers at once, ask again
 *                                                   Of a volume only what is not empty is sent: `sparse-content.ts`
 *   POST /instances/<uuid>/taken?hold=<uuid>     -> 204, once everything that was held is deleted; 404: there is no such hold
 */
export class TransferServer {
  readonly #log: AgentLog
  readonly #limitMs: (bytes: number) => number
  #listening: Promise<Server> | undefined
  #isClosed = false
  #source: HeldSource | undefined
  #sending = 0

  constructor(
    log: AgentLog,
    { limitMs = transferLimitMs }: { readonly limitMs?: typeof transferLimitMs } = {},
  ) {
    this.#log = log
    this.#limitMs = limitMs
  }

  /**
   * Listens, if it does not yet, and returns its port: `wanted` if that is free, or one that the kernel
   * chose.
   */
  async listen(source: HeldSource, address: string, wanted = 0): Promise<number> {
    if (this.#isClosed) throw new Error('instances can not be fetched from this host: its agent ends')
    this.#source = source
    this.#listening ??= this.#open(address, wanted).catch((error: unknown) => {
      this.#listening = undefined
      throw error
    })
    return ((await this.#listening).address() as AddressInfo).port
  }

  async #open(address: string, wanted: number): Promise<Server> {
    const server = createServer({ requestTimeout: transferIdleMs }, (request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        this.#log.warn({ err: error }, 'what another host asked for could not be sent')
        if (response.headersSent) response.destroy()
        else response.writeHead(500).end()
      })
    })
    server.maxConnections = connectionsMax
    server.setTimeout(transferIdleMs)
    server.listen(wanted, address)
    try {
      await once(server, 'listening')
    } catch (error) {
      if (wanted === 0) throw error
      return await this.#open(address, 0)
    }
    server.on('error', (error) => {
      this.#log.warn({ err: error }, 'a host could not connect to fetch an instance')
    })
    return server
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const server = await this.#listening?.catch(() => undefined)
    if (server === undefined) return
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = routePattern.exec(request.url ?? '')
    const [, instanceUuid, what, name, bytes, holdUuid] = route ?? []
    const source = this.#source
    if (instanceUuid === undefined || source === undefined) return void response.writeHead(404).end()
    const asked = { source, instanceUuid, response, address: request.socket.remoteAddress ?? '' }
    const isGet = request.method === 'GET'
    if (isGet && what === 'copy') await tellCopy(asked)
    else if (request.method === 'POST' && what === 'taken' && holdUuid !== undefined)
      response.writeHead((await source.taken({ instanceUuid, holdUuid }, asked.address)) ? 204 : 404).end()
    else if (isGet && name !== undefined && bytes !== undefined)
      await this.#sendFile(asked, decodeURIComponent(name), Number(bytes))
    else response.writeHead(404).end()
  }

  async #sendFile(
    { source, instanceUuid, address, response }: Asked,
    name: string,
    bytes: number,
  ): Promise<void> {
    const isKnown = isHeldFileName(name) || name === volumeFileName
    const path = isKnown ? await source.pathFor(instanceUuid, address, name) : undefined
    if (path === undefined) return void response.writeHead(404).end()
    if (this.#sending >= transfersAtOnce) return void response.writeHead(503).end()
    this.#sending += 1
    try {
      await using file = await open(path)
      response.writeHead(200, { trailer: checksumTrailer })
      // The other host may ask for more than there is.
      const limit = AbortSignal.timeout(this.#limitMs(Math.min(bytes, (await file.stat()).size)))
      const pieces = name === volumeFileName ? sparsePiecesOf(file, bytes) : piecesOf(file, bytes)
      await send(pieces, limit, response)
    } finally {
      this.#sending -= 1
    }
  }
}

async function tellCopy({ source, instanceUuid, address, response }: Asked): Promise<void> {
  const copy = await source.copyFor(instanceUuid, address)
  if (copy === undefined) response.writeHead(404).end()
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(copy))
}

async function send(
  pieces: AsyncIterable<Buffer>,
  signal: AbortSignal,
  response: ServerResponse,
): Promise<void> {
  const hash = createHash('sha256')
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: compressionLevel } })
  await pipeline(Readable.from(hashed(pieces, hash)), compress, response, { end: false, signal })
  response.addTrailers({ [checksumTrailer]: hash.digest('hex') })
  response.end()
}

async function* hashed(pieces: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    hash.update(piece)
    yield piece
  }
}

async function* piecesOf(file: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes;) {
    const length = Math.min(pieceBytes, bytes - at)
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
