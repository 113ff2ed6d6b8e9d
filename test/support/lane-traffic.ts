import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { PublicNames } from './public-names.ts'
import type { Lane } from './rollout-lanes.ts'
import { until } from './until.ts'

/** A request that was not answered with 200. */
export interface LostRequest {
  readonly lane: string
  readonly sentMs: number
  readonly endedMs: number
  /** Whether the connection could not be made, or broke. Otherwise there was an answer. */
  readonly isBroken: boolean
  readonly why: string
}

/** What requests are sent to. Default of `path`: `/`. */
type Addressed = Pick<Lane, 'name' | 'host'> & { readonly path?: string }

/** What sends the requests of a lane. */
export type LaneNames = Pick<PublicNames, 'get' | 'isClosed'>

const defaultPerSecond = 10
const tickMs = 20
/** More answers than a gateway has under way when it hears of a change. */
const sureAnswers = 10
const limitMs = 60_000
const brokenCodes = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']

/** Requests to a lane at a pace of their own, whatever the answers. Only `names` may repeat one. */
export class LaneTraffic<Of extends Addressed = Lane> {
  readonly lost: LostRequest[] = []
  /** The versions that answered, in the order of their answers. */
  readonly answers: string[] = []
  /** How long each of them took. */
  readonly waitsMs: number[] = []
  readonly #open = new Set<Promise<void>>()
  readonly #flowing: Promise<void>
  #isOver = false
  readonly lane: Of
  readonly #names: LaneNames

  constructor(names: LaneNames, lane: Of, perSecond = defaultPerSecond) {
    this.lane = lane
    this.#names = names
    this.#flowing = this.#flow(perSecond)
  }

  /** Waits until only this version answers. */
  async untilOnly(version: string): Promise<void> {
    let from = this.answers.length
    await until(
      `only ${version} answers in ${this.lane.name}`,
      () => {
        const other = this.answers.findLastIndex((one) => one !== version)
        from = Math.max(from, other + 1)
        return this.answers.length - from >= sureAnswers
      },
      { limitMs },
    )
  }

  /** How many of the next requests each version answers. */
  async next(count: number): Promise<Readonly<Record<string, number>>> {
    const from = this.answers.length
    await until(`${count} answers in ${this.lane.name}`, () => this.answers.length >= from + count, {
      limitMs,
    })
    const counts: Record<string, number> = {}
    for (const one of this.answers.slice(from, from + count)) counts[one] = (counts[one] ?? 0) + 1
    return counts
  }

  /** Sends no more requests. Those that are under way go on. */
  stop(): void {
    this.#isOver = true
  }

  /** Sends no more requests, and waits for the answers that are due. */
  async end(): Promise<void> {
    this.stop()
    await this.#flowing
    await Promise.all(this.#open)
  }

  async #flow(perSecond: number): Promise<void> {
    const startedMs = performance.now()
    for (let sent = 0; !this.#isOver && !this.#names.isClosed; await delay(tickMs)) {
      const due = ((performance.now() - startedMs) * perSecond) / 1_000
      for (; sent < due; sent++) {
        const one = this.#ask().finally(() => this.#open.delete(one))
        this.#open.add(one)
      }
    }
  }

  async #ask(): Promise<void> {
    const { host, path = '/' }: Addressed = this.lane
    const sentMs = performance.now()
    const lost = (isBroken: boolean, why: string): void => {
      const endedMs = performance.now()
      this.lost.push({ lane: this.lane.name, sentMs, endedMs, isBroken, why })
    }
    try {
      const { status, text } = await this.#names.get(`https://${host}${path}`)
      if (status === 200) {
        this.answers.push(text.trim())
        this.waitsMs.push(performance.now() - sentMs)
      } else lost(false, `${status} ${/<p>(.*?)<\/p>/.exec(text)?.[1] ?? text}`)
    } catch (error) {
      const { code = '' } = error as { readonly code?: string }
      lost(brokenCodes.includes(code), `${code} ${String(error)}`)
    }
  }
}

/** What was lost, in words. */
export function tellLost(lost: readonly LostRequest[]): string {
  return lost
    .map(
      ({ lane, sentMs, endedMs, why }) =>
        `${lane}: ${why} after ${Math.round(endedMs - sentMs)} ms, sent ${new Date(performance.timeOrigin + sentMs).toISOString()}`,
    )
    .join('\n')
}

export function assertNoneLost(all: readonly Pick<LaneTraffic, 'lost'>[], during: string): void {
  const lost = all.flatMap((one) => one.lost)
  assert.equal(lost.length, 0, `${lost.length} requests were lost ${during}:\n${tellLost(lost.slice(0, 20))}`)
}
