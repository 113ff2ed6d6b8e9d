import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiFailure } from '../../src/client/api-failure.ts'
import type { UserEvent } from '../../src/client/event-stream.ts'
import { isSessionEnd, sentenceOf } from '../frame/api.ts'
import type { Follower } from './live.ts'

/** How long events are collected, so that many of them cost one request. */
const collectMs = 300

export interface Source<T> {
  read(signal: AbortSignal): Promise<T>
  /** Whether an event may have changed what is read. */
  concerns(event: UserEvent): boolean
}

/** What only some pages show. It is read and kept up to date while one of them is open. */
export class OnDemand<T> implements Follower {
  readonly value = signal<T | undefined>(undefined)
  /** Why it can not be shown, as a sentence. */
  readonly problem = signal<string | undefined>(undefined)
  readonly #source: Source<T>
  #pages = 0
  #reading = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(source: Source<T>) {
    this.#source = source
  }

  async load(ended: AbortSignal): Promise<void> {
    if (this.#pages === 0) return
    this.#reading.abort()
    this.#reading = new AbortController()
    const { signal } = this.#reading
    try {
      const value = await this.#source.read(AbortSignal.any([ended, signal]))
      if (signal.aborted) return
      this.value.value = value
      this.problem.value = undefined
    } catch (error) {
      // A later reading has taken the place of this one.
      if (signal.aborted) return
      if (!isAnswer(error)) throw error
      this.problem.value = sentenceOf(error)
    }
  }

  heard(event: UserEvent): void {
    if (this.#source.concerns(event)) this.refreshSoon()
  }

  /** Keeps it up to date until the returned function is called. */
  show(): () => void {
    this.#pages += 1
    this.refresh()
    return () => {
      this.#pages -= 1
    }
  }

  /** Reads it again now. */
  refresh(): void {
    this.load(new AbortController().signal).catch((error: unknown) => {
      // When the API is back, everything is read again.
      if (this.value.value === undefined && !isSessionEnd(error)) this.problem.value = sentenceOf(error)
    })
  }

  /** Reads it again soon, together with what happens until then. */
  refreshSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.refresh()
    }, collectMs)
  }

  forget(): void {
    this.#reading.abort()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.value.value = undefined
    this.problem.value = undefined
  }
}

/** Keeps it up to date as long as the page shows. */
export function useShown(what: Pick<OnDemand<unknown>, 'show'>): void {
  useEffect(() => what.show(), [what])
}

/** Whether the API answered that it does not do this. */
function isAnswer(error: unknown): boolean {
  return error instanceof ApiFailure && !isSessionEnd(error) && error.facts.httpStatus !== undefined
}
