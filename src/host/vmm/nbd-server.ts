import type { Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { MirrorTarget } from './volume-mirror.ts'

/** The other end breaks the protocol, or asks for what a mirror never asks for. */
export class NbdError extends Error {
  override readonly name = 'NbdError'
}

/**
 * The part of the NBD protocol that QEMU needs to mirror a disk to a server: one export under the empty name,
 * which is written and never read. See https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md.
 */
const handshakeFlags = 0b11
const transmissionFlags = { has: 1, sendFlush: 4, sendWriteZeroes: 64 }
const option = { abort: 2, info: 6, go: 7 }
const optionReply = { magic: 0x3_e889_0455_65a9n, ack: 1, info: 3, unsupported: 0x8000_0001 }
const exportInfo = 0
const request = { magic: 0x2560_9513, write: 1, disconnect: 2, flush: 3, writeZeroes: 6 }
const replyMagic = 0x6744_6698

/**
 * How long QEMU may wait for an answer. Not only the mirror waits: whatever stops the VM first lets all
 * requests end.
 */
const answerLimitMs = 10_000
/** QEMU sends a version, a name and a few wishes. */
const optionMaxBytes = 4_096
const optionsMax = 16
/** `mirror.c` bounds QEMU's buffer to 4 MiB, and so each of its writes. */
const writeMaxBytes = 4 * 1024 * 1024

/**
 * Serves a mirror. Resolves when the client has said that it is done, after all that it wrote was taken.
 * Rejects if the connection ends before, if the client breaks the protocol, or if the target fails.
 */
export async function serveMirror(
  connection: Duplex,
  target: MirrorTarget,
  { limitMs = answerLimitMs }: { readonly limitMs?: number } = {},
): Promise<void> {
  const reader = new PieceReader(connection)
  await greet(connection, reader, target)
  for (;;) {
    const head = await reader.take(28)
    if (head.readUInt32BE(0) !== request.magic) throw new NbdError('a request begins with the wrong number')
    const kind = head.readUInt16BE(6)
    if (kind === request.disconnect) return
    await inTime(limitMs, async () => await carryOut(kind, head, reader, target))
    const reply = Buffer.alloc(16)
    reply.writeUInt32BE(replyMagic, 0)
    head.copy(reply, 8, 8, 16)
    if (!connection.write(reply)) await drained(connection)
    // What has arrived already must not keep the agent from everything else.
    await turn()
  }
}

async function inTime(limitMs: number, work: () => Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(new NbdError(`a request was not answered within ${limitMs / 1_000} s`))
  }, limitMs)
  try {
    await Promise.race([work(), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

async function drained(connection: Duplex): Promise<void> {
  if (connection.destroyed) throw new NbdError('the connection ended')
  await new Promise<void>((resolve) => {
    const done = () => {
      connection.off('drain', done)
      connection.off('close', done)
      resolve()
    }
    connection.once('drain', done)
    connection.once('close', done)
  })
}

async function carryOut(kind: number, head: Buffer, reader: PieceReader, target: MirrorTarget) {
  const at = Number(head.readBigUInt64BE(16))
  const length = head.readUInt32BE(24)
  if (kind !== request.flush && length === 0) throw new NbdError('a request has no length')
  if (at + length > target.bytes)
    throw new NbdError(`${length} bytes at ${at} are beyond the end of ${target.bytes} bytes`)
  if (kind === request.write) {
    if (length > writeMaxBytes) throw new NbdError(`a write has ${length} bytes, at most ${writeMaxBytes}`)
    await target.write(at, await reader.take(length))
  } else if (kind === request.writeZeroes) await target.zero(at, length)
  else if (kind !== request.flush) throw new NbdError(`the request ${kind} is none of a mirror`)
}

async function greet(connection: Duplex, reader: PieceReader, { bytes }: MirrorTarget): Promise<void> {
  const hello = Buffer.from('NBDMAGICIHAVEOPT\0\0', 'latin1')
  hello.writeUInt16BE(handshakeFlags, 16)
  connection.write(hello)
  await reader.take(4)
  for (let count = 0; count < optionsMax; count++) {
    const head = await reader.take(16)
    if (head.toString('latin1', 0, 8) !== 'IHAVEOPT') throw new NbdError('an option begins with other bytes')
    const [kind, length] = [head.readUInt32BE(8), head.readUInt32BE(12)]
    if (length > optionMaxBytes)
      throw new NbdError(`an option has ${length} bytes, at most ${optionMaxBytes}`)
    await reader.take(length)
    if (kind === option.abort) throw new NbdError('the client gave up')
    const isExport = kind === option.go || kind === option.info
    if (isExport) connection.write(optionAnswer(kind, optionReply.info, describe(bytes)))
    connection.write(optionAnswer(kind, isExport ? optionReply.ack : optionReply.unsupported))
    if (kind === option.go) return
  }
  throw new NbdError(`the client has over ${optionsMax} options`)
}

function describe(bytes: number): Buffer {
  const text = Buffer.alloc(12)
  text.writeUInt16BE(exportInfo, 0)
  text.writeBigUInt64BE(BigInt(bytes), 2)
  const { has, sendFlush, sendWriteZeroes } = transmissionFlags
  text.writeUInt16BE(has | sendFlush | sendWriteZeroes, 10)
  return text
}

function optionAnswer(kind: number, type: number, text: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(20)
  head.writeBigUInt64BE(optionReply.magic, 0)
  head.writeUInt32BE(kind, 8)
  head.writeUInt32BE(type, 12)
  head.writeUInt32BE(text.length, 16)
  return Buffer.concat([head, text])
}

/** Reads a connection in pieces of known lengths. */
class PieceReader {
  readonly #chunks: AsyncIterator<Buffer>
  #waiting: Buffer[] = []
  #bytes = 0

  constructor(connection: Duplex) {
    this.#chunks = (connection as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  }

  async take(length: number): Promise<Buffer> {
    while (this.#bytes < length) {
      const next = await this.#chunks.next()
      if (next.done === true) throw new NbdError('the connection ended')
      this.#waiting.push(next.value)
      this.#bytes += next.value.length
    }
    const all = Buffer.concat(this.#waiting)
    this.#waiting = [all.subarray(length)]
    this.#bytes = all.length - length
    return all.subarray(0, length)
  }
}
