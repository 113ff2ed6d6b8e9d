import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createZstdDecompress } from 'node:zlib'
import { isUuid } from '../../domain/object-name.ts'
import type { MoveSource } from '../instance/record.ts'
import { ArrivingChanges } from './changed-content.ts'
import { heldCopyMaxBytes, volumeFileName } from './held-copy.ts'
import type { HeldCopy } from './held-copy.ts'
import { SparseWriter, writeWithoutZeros } from './sparse-content.ts'
import { TransferPace } from './transfer-pace.ts'
import { checksumTrailer, copyHeader, transferIdleMs } from './transfer-server.ts'
import { NotHeldError, shortened, TransferError, transferLimitMs } from './transfers.ts'
import type { HoldName, TransferCount, WantedFile, WantedVolume } from './transfers.ts'

/** The wait before a host that sends enough already is asked again. */
const busyRetryMs = 500
interface Asked {
  readonly from: MoveSource
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly signal: AbortSignal
}

interface Limited {
  readonly bytes: number
  readonly what: string
  readonly from: MoveSource
  readonly signal: AbortSignal
}

/** The new host's side of a transfer; `TransferServer` is the other. */
export class TransferClient {
  readonly #address: string
  readonly #limitMs: (bytes: number) => number
  readonly #paceMs: number | undefined

  /** `address` is the machine's own address in the mesh, by which the old host knows it. */
  constructor(
    address: string,
    options: { readonly limitMs?: typeof transferLimitMs; readonly paceMs?: number } = {},
  ) {
    this.#address = address
    this.#limitMs = options.limitMs ?? transferLimitMs
    this.#paceMs = options.paceMs
  }

  async copyOf(from: MoveSource, instanceUuid: string, signal: AbortSignal): Promise<HeldCopy> {
    return await this.#within(
      { bytes: heldCopyMaxBytes, what: 'what it has', from, signal },
      async (limited) => {
        const path = `/instances/${instanceUuid}/copy`
        const response = await this.#ask({ from, method: 'GET', path, signal: limited })
        requireOk(response, from)
        return parsedCopy(await textOf(response, from), from)
      },
    )
  }

  async fetchFile(wanted: WantedFile, signal: AbortSignal): Promise<TransferCount> {
    const { from, file } = wanted
    return await this.#within(
      { bytes: file.bytes, what: file.name, from, signal },
      async (limited) => await this.#fetchFile(wanted, limited),
    )
  }

  /** Runs work that has a limit of time, beside the caller's `signal`. */
  async #within<Result>(
    { bytes, what, from, signal }: Limited,
    work: (limited: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const ms = this.#limitMs(bytes)
    const limit = AbortSignal.timeout(ms)
    try {
      return await work(AbortSignal.any([signal, limit]))
    } catch (error) {
      signal.throwIfAborted()
      if (!limit.aborted || isOfDisk(error)) throw error
      const why = `${nameOf(from)} did not send ${what} within ${Math.round(ms / 1_000)} s`
      throw new TransferError(why, { cause: error })
    }
  }

  async #fetchFile(
    { from, instanceUuid, file, path, isMade }: WantedFile,
    signal: AbortSignal,
  ): Promise<TransferCount> {
    const { name, bytes } = file
    const source = `/instances/${instanceUuid}/files/${encodeURIComponent(name)}?bytes=${bytes}`
    const response = await this.#askUntilFree({ from, method: 'GET', path: source, signal })
    const target = await open(path, isMade === true ? 'r+' : 'wx', 0o600)
    try {
      const Kind = name === volumeFileName ? ArrivingVolume : ArrivingFile
      const arriving: Arriving = new Kind(target, bytes)
      const compressed = countBytes(compressedMaxBytes(bytes))
      const write = async (pieces: AsyncIterable<Buffer>): Promise<void> => await arriving.write(pieces)
      using pace = new TransferPace(() => arriving.at, { paceMs: this.#paceMs })
      const ends = AbortSignal.any([signal, pace.signal])
      try {
        await pipeline(response, compressed.through, createZstdDecompress(), write, { signal: ends })
      } catch (error) {
        signal.throwIfAborted()
        if (isOfDisk(error)) throw error
        const why = messageOf(pace.signal.aborted ? pace.signal.reason : error)
        throw new TransferError(`${name} could not be read from ${nameOf(from)}: ${why}`, { cause: error })
      }
      if (!arriving.isWhole() || arriving.checksum() !== response.trailers[checksumTrailer])
        throw new TransferError(`what arrived of ${name} is not what ${nameOf(from)} has`)
      await target.truncate(bytes)
      await target.sync()
      return { bytes, compressedBytes: compressed.bytes() }
    } finally {
      response.destroy()
      await target.close()
    }
  }

  /** It may last as long as the VM runs, so there is no limit of time but the pace of the copy before. */
  async followVolume(
    { from, instanceUuid, bytes, path, onReady }: WantedVolume,
    signal: AbortSignal,
  ): Promise<string> {
    const source = `/instances/${instanceUuid}/volume?bytes=${bytes}`
    const response = await this.#askUntilFree({ from, method: 'GET', path: source, signal })
    await using target = await open(path, 'r+')
    const arriving = new ArrivingChanges(target, bytes, async () => {
      await target.sync()
      pace[Symbol.dispose]()
      onReady()
    })
    using pace = new TransferPace(() => arriving.arrived, { paceMs: this.#paceMs })
    try {
      const write = async (pieces: AsyncIterable<Buffer>): Promise<void> => await arriving.write(pieces)
      await pipeline(response, write, { signal: AbortSignal.any([signal, pace.signal]) })
    } catch (error) {
      signal.throwIfAborted()
      if (isOfDisk(error)) throw error
      const why = messageOf(pace.signal.aborted ? pace.signal.reason : error)
      throw new TransferError(`the volume could not be followed at ${nameOf(from)}: ${why}`, { cause: error })
    } finally {
      response.destroy()
    }
    const copyUuid = String(response.headers[copyHeader])
    if (!arriving.isWhole || arriving.checksum() !== response.trailers[checksumTrailer] || !isUuid(copyUuid))
      throw new TransferError(`what arrived of the volume is not what ${nameOf(from)} has`)
    await target.sync()
    return copyUuid
  }

  async tellTaken(
    from: MoveSource,
    { instanceUuid, holdUuid }: HoldName,
    signal: AbortSignal,
  ): Promise<void> {
    const path = `/instances/${instanceUuid}/taken?hold=${encodeURIComponent(holdUuid)}`
    const response = await this.#ask({ from, method: 'POST', path, signal })
    response.resume()
    // 404: the old host has deleted it already.
    if (response.statusCode !== 404) requireOk(response, from)
  }

  async #askUntilFree(asked: Asked): Promise<IncomingMessage> {
    for (;;) {
      const response = await this.#ask(asked)
      if (response.statusCode !== 503) return requireOk(response, asked.from)
      response.resume()
      await delay(busyRetryMs, undefined, { signal: asked.signal })
    }
  }

  async #ask({ from, method, path, signal }: Asked): Promise<IncomingMessage> {
    const { address: host, port } = from
    const options = { host, port, method, path, signal, agent: false, localAddress: this.#address }
    const request = httpRequest({ ...options, timeout: transferIdleMs })
    request.once('timeout', () => request.destroy(new Error(`nothing came for ${transferIdleMs / 1_000} s`)))
    request.end()
    try {
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      return response
    } catch (error) {
      signal.throwIfAborted()
      throw new TransferError(`${nameOf(from)} can not be reached: ${messageOf(error)}`, { cause: error })
    }
  }
}

/** Writes what arrives to a file, and checks it on the way. */
interface Arriving {
  write(pieces: AsyncIterable<Buffer>): Promise<void>
  /** How far in the file it has come. */
  readonly at: number
  /** Whether nothing is missing at the end. */
  isWhole(): boolean
  /** Of all that came over the wire, before it was compressed. */
  checksum(): string
}

/**
 * Content as it is. More than the file's bytes is an error, so a few bytes that unpack to many do no harm.
 */
class ArrivingFile implements Arriving {
  #bytes = 0
  readonly #file: FileHandle
  readonly #limit: number
  readonly #hash = createHash('sha256')

  constructor(file: FileHandle, limit: number) {
    this.#file = file
    this.#limit = limit
  }

  async write(pieces: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of pieces) {
      const at = this.#bytes
      this.#bytes += piece.length
      if (this.#bytes > this.#limit) throw new Error(`it has more than ${this.#limit} bytes`)
      this.#hash.update(piece)
      await writeWithoutZeros(this.#file, piece, at)
    }
  }

  get at(): number {
    return this.#bytes
  }

  isWhole(): boolean {
    return this.#bytes === this.#limit
  }

  checksum(): string {
    return this.#hash.digest('hex')
  }
}

/** The written pieces of a volume; see `sparse-content.ts`. */
class ArrivingVolume implements Arriving {
  readonly #writer: SparseWriter
  readonly #hash = createHash('sha256')

  constructor(file: FileHandle, limit: number) {
    this.#writer = new SparseWriter(file, limit)
  }

  async write(pieces: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of pieces) {
      this.#hash.update(piece)
      await this.#writer.write(piece)
    }
  }

  get at(): number {
    return this.#writer.at
  }

  isWhole(): boolean {
    return this.#writer.isWhole
  }

  checksum(): string {
    return this.#hash.digest('hex')
  }
}

/** The most bytes that content has when it is compressed: what can not be made smaller grows a little. */
function compressedMaxBytes(bytes: number): number {
  return Math.ceil(bytes * 1.01) + 1024 * 1024
}

function countBytes(limit: number): { readonly through: Transform; readonly bytes: () => number } {
  let bytes = 0
  const through = new Transform({
    transform: (piece: Buffer, _encoding, done) => {
      bytes += piece.length
      if (bytes > limit) done(new Error(`it has more than ${limit} bytes on the wire`))
      else done(null, piece)
    },
  })
  return { through, bytes: () => bytes }
}

async function textOf(response: IncomingMessage, from: MoveSource): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > heldCopyMaxBytes) throw new Error(`it tells more than ${heldCopyMaxBytes} bytes`)
      pieces.push(piece)
    }
  } catch (error) {
    throw new TransferError(`${nameOf(from)} did not tell what it has: ${messageOf(error)}`, { cause: error })
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** What is told holds secrets, so a failure names none of it. */
function parsedCopy(text: string, from: MoveSource): HeldCopy {
  try {
    return JSON.parse(text) as HeldCopy
  } catch {
    throw new TransferError(`${nameOf(from)} did not tell what it has: its answer is no JSON`)
  }
}

function requireOk(response: IncomingMessage, from: MoveSource): IncomingMessage {
  const { statusCode = 0 } = response
  if (statusCode >= 200 && statusCode < 300) return response
  response.resume()
  if (statusCode === 404)
    throw new NotHeldError(`${nameOf(from)} gives nothing: it does not hold the instance for this host`)
  throw new TransferError(`${nameOf(from)} gives nothing: it answers ${statusCode}`)
}

function nameOf({ nodeId }: MoveSource): string {
  return `host ${nodeId}`
}

function messageOf(error: unknown): string {
  return shortened(error instanceof Error ? error.message : error)
}

/** Whether this host's own disk failed. */
function isOfDisk(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EIO'].includes(String((error as NodeJS.ErrnoException).code))
}
