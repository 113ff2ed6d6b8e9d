import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { questionEnd } from './dns-answers.ts'
import { YieldingSlots } from './yielding-slots.ts'
import type { SlotHolder } from './yielding-slots.ts'
import { LengthFramedReader, lengthFramed } from './length-frames.ts'
import { TokenBuckets } from '../../domain/token-bucket.ts'

/**
 * How long an instance's question waits for an answer. Resolvers in guests ask again after 5 s, so a later
 * answer would be of no use.
 */
const answerTimeoutMs = 4_000
/** The most questions that wait for the host's nameserver. Each of them takes a socket. */
const maxPending = 512
const maxPendingPerInstance = 64
/**
 * The most questions of one user per second. Each question to the host's nameserver takes an entry of the
 * host's connection table for 30 s, so one user takes at most 15 000 of usually 262 144. One look-up is two
 * questions, of types A and AAAA.
 */
const askedPerS = 500
const askedBurst = 1_000
/**
 * The most bytes of an answer over UDP. The nameserver cuts a longer answer and marks it as cut, and the
 * guest asks again over TCP.
 */
const udpAnswerMaxBytes = 4_096
const tcpAnswerMaxBytes = 65_535

/**
 * Asks the host's own nameserver on behalf of an instance. Each question has an id of its own and a port of
 * its own, chosen by the kernel, and its socket hears nobody but that server. An answer must repeat the id
 * and the question. So a forged answer has to guess 32 bits before the true answer arrives.
 */
export class DnsForwarder {
  readonly #server: { readonly host: string; readonly port: number }
  readonly #timeoutMs: number
  readonly #nowMs: () => number
  readonly #slots = new YieldingSlots({ total: maxPending, perInstance: maxPendingPerInstance })
  readonly #buckets = new TokenBuckets({ perSecond: askedPerS, burst: askedBurst })

  constructor(server: {
    readonly host: string
    readonly port?: number
    readonly timeoutMs?: number
    readonly nowMs?: () => number
  }) {
    this.#server = { host: server.host, port: server.port ?? 53 }
    this.#timeoutMs = server.timeoutMs ?? answerTimeoutMs
    this.#nowMs = server.nowMs ?? (() => performance.now())
  }

  /**
   * Returns the answer, with the id of the question. Returns undefined if no answer comes, if this instance
   * or its user asks too much, or if the question gave way to one of another user.
   */
  async ask(
    question: Buffer,
    options: { readonly user: string; readonly ip: string; readonly over: 'udp' | 'tcp' },
  ): Promise<Buffer | undefined> {
    const { user, ip, over } = options
    if (!this.#buckets.take(user, this.#nowMs())) return undefined
    const givenWay = new AbortController()
    const holder: SlotHolder = { user, ip, giveWay: () => givenWay.abort() }
    if (!this.#slots.take(holder)) return undefined
    try {
      const asked = Buffer.from(question)
      asked.writeUInt16BE(randomInt(0x10000), 0)
      const answer = await (over === 'udp'
        ? this.#askByUdp(asked, givenWay.signal)
        : this.#askByTcp(asked, givenWay.signal))
      if (answer === undefined) return undefined
      const named = Buffer.from(answer)
      question.copy(named, 0, 0, 2)
      return named
    } finally {
      this.#slots.release(holder)
    }
  }

  async #askByUdp(asked: Buffer, givenWay: AbortSignal): Promise<Buffer | undefined> {
    const socket = createSocket('udp4')
    return await this.#awaitAnswer(givenWay, (give) => {
      socket.on('error', () => give(undefined))
      socket.on('message', (answer) => {
        if (answer.length <= udpAnswerMaxBytes && isAnswerTo(asked, answer)) give(answer)
      })
      socket.connect(this.#server.port, this.#server.host, (error?: Error) => {
        // If the host has no route to the nameserver, sending would throw in a place where nobody can catch
        // the error.
        if (error !== undefined || givenWay.aborted) give(undefined)
        else socket.send(asked)
      })
      return () => socket.close()
    })
  }

  async #askByTcp(asked: Buffer, givenWay: AbortSignal): Promise<Buffer | undefined> {
    const socket = connect({ ...this.#server, noDelay: true })
    const frames = new LengthFramedReader({ maxBytes: tcpAnswerMaxBytes })
    return await this.#awaitAnswer(givenWay, (give) => {
      socket.on('error', () => give(undefined))
      socket.on('close', () => give(undefined))
      socket.on('data', (chunk) => {
        const [answer] = frames.push(chunk) ?? []
        if (answer !== undefined) give(isAnswerTo(asked, answer) ? answer : undefined)
      })
      socket.write(lengthFramed(asked))
      return () => socket.destroy()
    })
  }

  async #awaitAnswer(
    givenWay: AbortSignal,
    begin: (give: (answer: Buffer | undefined) => void) => () => void,
  ): Promise<Buffer | undefined> {
    return await new Promise((resolve) => {
      let given = false
      const give = (answer: Buffer | undefined): void => {
        if (given) return
        given = true
        clearTimeout(timer)
        end()
        resolve(answer)
      }
      const timer = setTimeout(give, this.#timeoutMs, undefined)
      const end = begin(give)
      givenWay.addEventListener('abort', () => give(undefined), { once: true })
    })
  }
}

function isAnswerTo(asked: Buffer, answer: Buffer): boolean {
  const end = questionEnd(asked)
  if (end === undefined || answer.length < 12) return false
  const isResponse = ((answer[2] ?? 0) & 0x80) !== 0
  if (!isResponse || answer.readUInt16BE(0) !== asked.readUInt16BE(0)) return false
  // A server that could not read the question may leave it out of its answer.
  if (answer.readUInt16BE(4) === 0) return answer.length === 12
  return answer.length >= end && asked.subarray(12, end).equals(answer.subarray(12, end))
}
