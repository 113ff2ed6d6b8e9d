import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { LengthFramedReader, lengthFramed } from './length-frames.ts'
import { questionEnd } from './dns-answers.ts'

/** Resolvers in guests ask again after 5 s: an answer that comes later is for nobody. */
const answerTimeoutMs = 4_000
/** Each is a socket of ours. One instance can not take them all. */
const maxPending = 512
const maxPendingPerAsker = 64
/** A longer one is not for UDP: its asker is told so by the server that is asked, and comes by TCP. */
const udpAnswerMaxBytes = 4_096
const tcpAnswerMaxBytes = 65_535

/**
 * Asks the host's own nameserver in place of an instance. Each question goes from a port of its own, chosen by the kernel, with an id of its own,
 * over a socket that hears nobody but that server; an answer must repeat id and question. So a forged one has to guess
 * 32 bits within the time that the true one takes.
 */
export class DnsForwarder {
  readonly #server: { readonly host: string; readonly port: number }
  readonly #timeoutMs: number
  readonly #pending = new Map<string, number>()
  #total = 0

  constructor(server: { readonly host: string; readonly port?: number; readonly timeoutMs?: number }) {
    this.#server = { host: server.host, port: server.port ?? 53 }
    this.#timeoutMs = server.timeoutMs ?? answerTimeoutMs
  }

  /** The answer under the id of the question; undefined where there is none or there are too many questions. */
  async ask(
    question: Buffer,
    options: { readonly asker: string; readonly over: 'udp' | 'tcp' },
  ): Promise<Buffer | undefined> {
    const pending = this.#pending.get(options.asker) ?? 0
    if (this.#total >= maxPending || pending >= maxPendingPerAsker) return undefined
    this.#total += 1
    this.#pending.set(options.asker, pending + 1)
    try {
      const asked = Buffer.from(question)
      asked.writeUInt16BE(randomInt(0x10000), 0)
      const answer = options.over === 'udp' ? await this.#askByUdp(asked) : await this.#askByTcp(asked)
      if (answer === undefined) return undefined
      const named = Buffer.from(answer)
      question.copy(named, 0, 0, 2)
      return named
    } finally {
      this.#total -= 1
      const left = (this.#pending.get(options.asker) ?? 1) - 1
      if (left === 0) this.#pending.delete(options.asker)
      else this.#pending.set(options.asker, left)
    }
  }

  async #askByUdp(asked: Buffer): Promise<Buffer | undefined> {
    const socket = createSocket('udp4')
    return await this.#awaitAnswer((give) => {
      socket.on('error', () => give(undefined))
      socket.on('message', (answer) => {
        if (answer.length <= udpAnswerMaxBytes && isAnswerTo(asked, answer)) give(answer)
      })
      socket.connect(this.#server.port, this.#server.host, () => socket.send(asked))
      return () => socket.close()
    })
  }

  async #askByTcp(asked: Buffer): Promise<Buffer | undefined> {
    const socket = connect({ ...this.#server, noDelay: true })
    const frames = new LengthFramedReader({ maxBytes: tcpAnswerMaxBytes })
    return await this.#awaitAnswer((give) => {
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
    })
  }
}

function isAnswerTo(asked: Buffer, answer: Buffer): boolean {
  const end = questionEnd(asked)
  if (end === undefined || answer.length < 12) return false
  const isResponse = ((answer[2] ?? 0) & 0x80) !== 0
  if (!isResponse || answer.readUInt16BE(0) !== asked.readUInt16BE(0)) return false
  // A server that could not read the question may leave it out.
  if (answer.readUInt16BE(4) === 0) return answer.length === 12
  return answer.length >= end && asked.subarray(12, end).equals(answer.subarray(12, end))
}
