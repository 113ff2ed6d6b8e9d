import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiFailure } from '../../src/client/api-failure.ts'
import type { UserEvent } from '../../src/client/event-stream.ts'
import type { Follower } from '../event/live.ts'
import { isSessionEnd, sentenceOf } from '../frame/api.ts'

/** How long changes are collected before all is read again, so that many events cost few requests. */
const collectMs = 300

interface Source<T> {
  read(signal: AbortSignal): Promise<readonly T[]>
  /** Whether an event may have changed what is read. */
  concerns(event: UserEvent): boolean
}

/** All objects of a kind. They are read and kept up to date while a page shows them. */
export class ObjectStore<T> implements Follower {
  readonly all = signal<readonly T[]>([])
  readonly isKnown = signal(false)
  /** Why the API does not give them. */
  readonly problem = signal<string | undefined>(undefined)
  readonly #source: Source<T>
  #pages = 0
  #reads = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(source: Source<T>) {
    this.#source = source
  }

  async load(signal: AbortSignal): Promise<void> {
    if (this.#pages === 0) return
    const read = ++this.#reads
    try {
      const all = await this.#source.read(signal)
      if (read !== this.#reads) return
      this.all.value = all
      this.problem.value = undefined
      this.isKnown.value = true
    } catch (error) {
      if (isSessionEnd(error) || !(error instanceof ApiFailure) || error.facts.httpStatus === undefined)
        throw error
      if (read === this.#reads) this.problem.value = sentenceOf(error)
    }
  }

  heard(event: UserEvent): void {
    if (this.#source.concerns(event)) this.readSoon()
  }

  /** Reads all again, soon. */
  readSoon(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.readAgain()
    }, collectMs)
  }

  /** Reads all again, at once. If the API is away, they are read with everything else when it is back. */
  async readAgain(): Promise<void> {
    await this.load(new AbortController().signal).catch(() => undefined)
  }

  /** Keeps them up to date until the returned function is called. */
  show(): () => void {
    this.#pages += 1
    void this.readAgain()
    return () => {
      this.#pages -= 1
    }
  }

  forget(): void {
    this.#reads += 1
    this.all.value = []
    this.isKnown.value = false
    this.problem.value = undefined
  }
}

/** Keeps the objects up to date as long as the page shows. */
export function useObjects(store: Pick<ObjectStore<unknown>, 'show'>): void {
  useEffect(() => store.show(), [store])
}
