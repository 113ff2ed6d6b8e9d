import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { PublicAnswer, PublicNames } from '../support/public-names.ts'
import { until } from '../support/until.ts'
import { Ledger } from './ledger.ts'
import { readCounted } from './ledger-guest.ts'

const pauseMs = 200
/** The gateway may hold a request for as long as a start takes. */
const limitMs = 40_000
const uploadBytes = 24 * 1_024
/** So many files fit the volume, with room left. */
const mostFiles = 200
const uploadEvery = 10
const answersAgainMs = 180_000

/** How requests ended. */
export interface RequestCounts {
  answered: number
  /** The gateway said that it has no instance that answers now. */
  refused: number
  broken: number
  /** The longest time without an answer. */
  longestSilenceMs: number
}

/** A client of one ledger. It asks one question after the other, and checks every answer. */
export class LedgerClient {
  readonly ledger: Ledger
  readonly counts: RequestCounts = { answered: 0, refused: 0, broken: 0, longestSilenceMs: 0 }
  readonly #names: PublicNames
  readonly #url: string
  readonly #uploads: boolean
  readonly #going: Promise<void>
  #turn = 0
  #lastMs = performance.now()
  #isOver = false

  constructor(
    names: PublicNames,
    of: { readonly name: string; readonly publicName: string; readonly isKept: boolean },
  ) {
    this.#names = names
    this.#url = `https://${of.publicName}`
    this.#uploads = of.isKept
    this.ledger = new Ledger(of.name, of.isKept)
    this.#going = this.#go()
  }

  /** Asks no more, and waits for the answer that is due. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#going
  }

  /** Asks until there is an answer, and verifies that every file is there that was promised. */
  async verify(): Promise<void> {
    const before = this.counts.answered
    const answers = async () => {
      await this.#askForNumber()
      return this.counts.answered > before
    }
    await until(`${this.#url} answers`, answers, { limitMs: answersAgainMs })
    for (const file of this.ledger.files.keys()) {
      const { status, text } = await this.#names.get(`${this.#url}/keep/${file}`, { limitMs })
      this.ledger.verifyFile(file, status === 200 ? text.trim() : `none, but status ${status}`)
    }
  }

  async #go(): Promise<void> {
    for (; !this.#isOver && !this.#names.isClosed; await delay(pauseMs)) {
      const isUpload = this.#uploads && this.#turn++ % uploadEvery === 0 && this.ledger.files.size < mostFiles
      if (isUpload) await this.#upload()
      else await this.#askForNumber()
    }
  }

  async #askForNumber(): Promise<void> {
    const answer = await this.#ask('/next')
    if (answer === undefined) return
    const counted = readCounted(answer.text)
    if (counted === undefined) this.ledger.broken.push(`${this.#url}/next was answered with '${answer.text}'`)
    else this.ledger.count(counted)
  }

  async #upload(): Promise<void> {
    const body = randomBytes(uploadBytes / 2).toString('hex')
    const file = `file-${this.#turn}`
    const answer = await this.#ask(`/keep/${file}`, body)
    if (answer === undefined) return
    const sum = createHash('sha256').update(body).digest('hex')
    this.ledger.keep(file, sum)
    this.ledger.verifyFile(file, answer.text.trim())
  }

  /** Undefined if there is no answer of the application. */
  async #ask(path: string, body?: string): Promise<PublicAnswer | undefined> {
    let answer: PublicAnswer
    try {
      answer = await this.#names.get(this.#url + path, { limitMs, ...(body !== undefined && { body }) })
    } catch {
      this.counts.broken += 1
      return undefined
    }
    if (answer.status !== 200) {
      this.counts.refused += 1
      return undefined
    }
    this.counts.answered += 1
    const nowMs = performance.now()
    this.counts.longestSilenceMs = Math.max(this.counts.longestSilenceMs, nowMs - this.#lastMs)
    this.#lastMs = nowMs
    return answer
  }
}
