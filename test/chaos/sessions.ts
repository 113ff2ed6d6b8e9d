import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { inTime } from '../support/in-time.ts'
import type { PublicNames } from '../support/public-names.ts'
import { linePort } from '../support/published-instance.ts'

const pauseMs = 1_000
const openLimitMs = 40_000

/** Says a word, and returns what is answered. Rejects when the connection is over. */
interface Session {
  say(word: string): Promise<string>
  close(): void
}

/**
 * Keeps a WebSocket or a connection of lines to `official/counter` open, and speaks on it. It may break
 * when a part or a host dies, and is then opened again. Each answer has to be that to its own word.
 */
export class SessionClient {
  readonly broken: string[] = []
  answered = 0
  breaks = 0
  readonly #what: string
  readonly #open: () => Promise<Session>
  readonly #going: Promise<void>
  #isOver = false

  constructor(what: string, open: () => Promise<Session>) {
    this.#what = what
    this.#open = open
    this.#going = this.#go()
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#going
  }

  async #go(): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#speak(await this.#open())
      } catch {
        this.breaks += 1
        await delay(pauseMs)
      }
    }
  }

  async #speak(session: Session): Promise<void> {
    try {
      for (let last = 0; !this.#isOver; await delay(pauseMs)) {
        const word = `word-${this.answered}`
        const said = await inTime(`${this.#what} answers`, session.say(word))
        const [, count, echoed] = /^(\d+) (.*)$/.exec(said.trim()) ?? []
        if (echoed !== word) this.broken.push(`${this.#what}: '${word}' was answered with '${said}'`)
        if (Number(count) <= last) this.broken.push(`${this.#what}: it counted ${count} after ${last}`)
        last = Number(count)
        this.answered += 1
      }
    } finally {
      session.close()
    }
  }
}

export async function openSocket(names: PublicNames, host: string): Promise<Session> {
  const socket = await inTime('the WebSocket opens', names.websocket(`wss://${host}/ws`), openLimitMs)
  const closed = once(socket, 'close').then(() => {
    throw new Error('the WebSocket was closed')
  })
  closed.catch(() => undefined)
  return {
    async say(word) {
      const answered = once(socket, 'message') as Promise<[MessageEvent]>
      socket.send(word)
      const [message] = await Promise.race([answered, closed])
      return String(message.data)
    },
    close: () => socket.close(),
  }
}

export async function openLines(names: PublicNames, host: string): Promise<Session> {
  const socket = await inTime('the connection opens', names.connect(host, linePort), openLimitMs)
  socket.on('error', () => undefined)
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  return {
    async say(word) {
      socket.write(`${word}\n`)
      const { value, done } = await lines.next()
      if (done === true) throw new Error('the connection was closed')
      return value
    },
    close: () => void socket.destroy(),
  }
}
