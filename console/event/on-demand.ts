import { signal } from '@preact/signals'
import { ApiFailure } from '../../src/client/api-failure.ts'
import type { UserEvent } from '../../src/client/event-stream.ts'
import { isSessionEnd, sentenceOf } from '../frame/api.ts'
import type { Follower } from './live.ts'

/** How long events are collected, so that many of them cost one request. */
const collectMs = 300
const firstServerFault = 500

/** What only some pages show: nothing is read before the first of them opens. */
export class OnDemand<T> implements Follower {
  readonly value = signal<T | undefined>(undefined)
  /** Why it can not be shown, as a sentence. */
  readonly problem = signal<string | undefined>(undefined)
  readonly #read: (signal: AbortSignal) => Promise<T>
  readonly #concerns: (event: UserEvent) => boolean
  #isWanted = false
  #reading = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(source: {
    readonly read: (signal: AbortSignal) => Promise<T>
    readonly concerns: (event: UserEvent) => boolean
  }) {
    this.#read = source.read
    this.#concerns = source.concerns
  }

  async load(ended: AbortSignal): Promise<void> {
    if (!this.#isWanted) return
    this.#reading.abort()
    this.#reading = new AbortController()
    const { signal } = this.#reading
    try {
      const value = await this.#read(AbortSignal.any([ended, signal]))
      if (signal.aborted) return
      this.value.value = value
      this.problem.value = undefined
    } catch (error) {
      // A later reading has taken the place of this one.
      if (signal.aborted) return
      if (!isRefusal(error)) throw error
      this.problem.value = sentenceOf(error)
    }
  }

  heard(event: UserEvent): void {
    if (this.#concerns(event)) this.#readSoon()
  }

  /** Called by each page that shows it, when the page opens. */
  want(): void {
    this.#isWanted = true
    this.refresh()
  }

  /** Reads it again now. */
  refresh(): void {
    this.load(new AbortController().signal).catch((error: unknown) => {
      // When the API is back, everything is read again.
      if (this.value.value === undefined) this.problem.value = sentenceOf(error)
    })
  }

  forget(): void {
    this.#isWanted = false
    this.#reading.abort()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.value.value = undefined
    this.problem.value = undefined
  }

  #readSoon(): void {
    if (!this.#isWanted) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.refresh()
    }, collectMs)
  }
}

/** Whether the API answered that it does not do this. To ask again would not help. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiFailure) || isSessionEnd(error)) return false
  const { httpStatus } = error.facts
  return httpStatus !== undefined && httpStatus < firstServerFault
}
