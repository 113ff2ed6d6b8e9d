import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress } from 'node:zlib'
import type { AgentLog } from '../agent/agent-ports.ts'
import { ChangesSender } from './changed-content.ts'
import { isHeldFileName, volumeFileName } from './held-copy.ts'
import { sparsePiecesOf } from './sparse-content.ts'
import type { ReadFile } from './sparse-content.ts'
import { TransferPace } from './transfer-pace.ts'
import { transfersAtOnce, transfersPerHost } from './transfers.ts'
import type { HeldSource } from './transfers.ts'

/** The trailer with the checksum of the content, which is known when all of it was read. */
export const checksumTrailer = 'x-content-sha256'
/** The header with the name of a copy of a volume. */
export const copyHeader = 'x-copy'
/** How long a connection may carry nothing. Both sides end it then. */
export const transferIdleMs = 20_000
/** Compression has to keep up with the wire. Level 1 does 400 MB/s and more per processor. */
const compressionLevel = 1
const pieceBytes = 1024 * 1024
/** Far more than the machines that fetch at once. The filter drops what other machines send. */
const connectionsMax = 64

const routePattern =
  /^\/instances\/([0-9a-f-]{36})\/(copy|taken|volume|files\/([a-z0-9%.-]{1,64}))(?:\?bytes=(\d{1,16})|\?hold=([0-9a-f-]{36}))?$/i

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
 *   GET  /instances/<uuid>/volume?bytes=N        -> what its VM has on its volume and writes to it, until it sleeps: `changed-content.ts`
 *                                                   The header names the copy. Without the trailer it is of no use
 *   POST /instances/<uuid>/taken?hold=<uuid>     -> 204, once everything that was held is deleted; 404: there is no such hold
 */
export class TransferServer {
  readonly #log: AgentLog
  readonly #paceMs: number | undefined
  #listening: Promise<Server> | undefined
  #isClosed = false
  #source: HeldSource | undefined
  readonly #sending = new Set<Asked>()
  /** Copies of volumes whose VMs run. They may take hours, and fetches do not wait for them. */
  readonly #copying = new Set<Asked>()

  constructor(log: AgentLog, { paceMs }: { readonly paceMs?: number } = {}) {
    this.#log = log
    this.#paceMs = paceMs
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
    else if (isGet && what === 'volume') await this.#sendVolume(asked, Number(bytes))
    else if (request.method === 'POST' && what === 'taken' && holdUuid !== undefined)
      response.writeHead((await source.taken({ instanceUuid, holdUuid }, asked.address)) ? 204 : 404).end()
    else if (isGet && name !== undefined && bytes !== undefined)
      await this.#sendFile(asked, decodeURIComponent(name), Number(bytes))
    else response.writeHead(404).end()
  }

  async #sendFile(asked: Asked, name: string, bytes: number): Promise<void> {
    const { source, instanceUuid, address, response } = asked
    const isKnown = isHeldFileName(name) || name === volumeFileName
    const held = isKnown ? await source.fileFor(instanceUuid, address, name) : undefined
    if (held === undefined) return void response.writeHead(404).end()
    if (!hasTurn(this.#sending, address)) return void response.writeHead(503).end()
    this.#sending.add(asked)
    try {
      await using content = await open(held.path)
      response.writeHead(200, { trailer: checksumTrailer })
      let readTo = 0
      using pace = new TransferPace(() => readTo, { paceMs: this.#paceMs })
      const file: ReadFile = {
        read: async (buffer, offset, length, at) => {
          const { bytesRead } = await content.read(buffer, offset, length, at)
          if (!held.isHeld())
            throw new Error(`the instance ${instanceUuid} is not held for ${address} any more`)
          readTo = at + bytesRead
          return { bytesRead }
        },
      }
      const pieces = name === volumeFileName ? sparsePiecesOf(file, bytes) : piecesOf(file, bytes)
      await send(pieces, pace.signal, response)
    } finally {
      this.#sending.delete(asked)
    }
  }

  /** A copy has a turn until it only follows. */
  async #sendVolume(asked: Asked, bytes: number): Promise<void> {
    const { source, instanceUuid, address, response } = asked
    const offered = source.volumeFor(instanceUuid, address)
    if (offered?.bytes !== bytes) return void response.writeHead(404).end()
    if (!hasTurn(this.#copying, address)) return void response.writeHead(503).end()
    this.#copying.add(asked)
    try {
      response.writeHead(200, { trailer: checksumTrailer, [copyHeader]: offered.copyUuid })
      response.flushHeaders()
      using sender = new ChangesSender(response, bytes)
      const mirror = await offered.mirror(sender)
      const cancel = () => mirror.cancel()
      response.once('close', cancel)
      response.on('error', cancel)
      if (response.closed) cancel()
      using pace = new TransferPace(() => sender.sent, { paceMs: this.#paceMs })
      pace.signal.addEventListener('abort', cancel)
      if (await mirror.ready) {
        pace[Symbol.dispose]()
        this.#copying.delete(asked)
        sender.tellReady()
      }
      if (!(await mirror.over)) throw new Error(`the copy of the volume of ${instanceUuid} is not whole`)
      response.addTrailers({ [checksumTrailer]: sender.checksum() })
      response.end()
    } finally {
      this.#copying.delete(asked)
    }
  }
}

function hasTurn(under: ReadonlySet<Asked>, address: string): boolean {
  const same = [...under].filter((each) => each.address === address)
  return under.size < transfersAtOnce && same.length < transfersPerHost
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

async function* piecesOf(file: ReadFile, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes;) {
    const length = Math.min(pieceBytes, bytes - at)
    const buffer = Buffer.allocUnsafe(length)
    const { bytesRead } = await file.read(buffer, 0, length, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
