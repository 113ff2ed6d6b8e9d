import { computed, signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import { succeeded } from '../../src/client/answers.ts'
import type { UserEvent } from '../../src/client/event-stream.ts'
import { recentEvents } from './live.ts'
import { api, sentenceOf } from '../frame/api.ts'

const perPage = 100

/** The events of one object: those that were read, and those that are heard since. The newest come first. */
export class ObjectEvents {
  readonly #uuid: string
  readonly #read = signal<readonly UserEvent[]>([])
  readonly isRead = signal(false)
  /** Whether there are earlier ones that were not read. */
  readonly hasMore = signal(false)
  readonly problem = signal<string | undefined>(undefined)
  readonly all: ReadonlySignal<readonly UserEvent[]>

  constructor(uuid: string) {
    this.#uuid = uuid
    this.all = computed(() => {
      const latest = this.#read.value[0]?.id ?? 0
      const heard = recentEvents.value.filter(({ object, id }) => object.uuid === uuid && id > latest)
      return [...heard, ...this.#read.value]
    })
  }

  /** Reads the next page of earlier events; the first page at first. */
  async readMore(): Promise<void> {
    const before = this.#read.value.at(-1)?.id
    const query = { object: this.#uuid, count: perPage, ...(before === undefined ? {} : { before }) }
    try {
      const page = succeeded(await api.GET('/v1/events', { params: { query } }))
      this.#read.value = [...this.#read.value, ...page]
      this.hasMore.value = page.length === perPage
      this.problem.value = undefined
    } catch (error) {
      this.problem.value = sentenceOf(error)
    }
    this.isRead.value = true
  }
}
