import { targetAfter } from '../../src/domain/autoscale/alignment.ts'
import { ApplicationFailure, Context } from '@temporalio/activity'
import type {
  AlignInput,
  AlignResult,
  AutoscaleActivities,
  WatchInput,
  WatchResult,
} from '../../activities/autoscale/activities.ts'

export interface FakeAutoscaleOptions {
  /**
   * The result of the nth alignment, counted from 1. Undefined: the wanted size is reached. The text in
   * `broken` is thrown as an error.
   */
  readonly alignmentOf?: (
    input: AlignInput,
    nth: number,
  ) => Partial<AlignResult> | { readonly broken: string } | undefined
  /**
   * The result of the nth closing, counted from 1. Undefined: it succeeds. The text in `broken` is thrown as
   * an error.
   */
  readonly closingOf?: (nth: number) => { readonly closed: false } | { readonly broken: string } | undefined
  /** Holds a call until the promise resolves. A call that is called off is held until then, too. */
  readonly gate?: (call: 'align' | 'close', nth: number) => Promise<void> | undefined
}

const beatEveryMs = 100

interface Watch {
  wake: () => void
}

/**
 * The activities of one service, without loads, hosts or a database. The test says what a watch of the
 * service sees.
 */
export class FakeAutoscale {
  /**
   * The calls `watch 2`, `align 3`, `close` in the order in which they began, repeated attempts included.
   */
  readonly calls: string[] = []
  readonly watches: WatchInput[] = []
  readonly aligned: AlignInput[] = []
  readonly calledOff: string[] = []
  /** How many calls of `align` and `close` began while another such call was under way. */
  overlaps = 0
  beats = 0
  size = 1
  #isAway = false
  readonly #options: FakeAutoscaleOptions
  readonly #seen: WatchResult[] = []
  #newest: Watch | undefined
  #changing = 0
  #closings = 0

  constructor(options: FakeAutoscaleOptions = {}) {
    this.#options = options
  }

  /** Sets the results of the watch under way and of the next ones. */
  sees(...outcomes: readonly WatchResult[]): void {
    this.#seen.push(...outcomes)
    this.#newest?.wake()
  }

  /**
   * While this is true, attempts of a watch fail as if their worker went away. Virtual time stands still
   * while a watch is under way, so a test sets this also to let time pass.
   */
  set isAway(away: boolean) {
    this.#isAway = away
    this.#newest?.wake()
  }

  get isWatched(): boolean {
    return this.#newest !== undefined
  }

  count(call: 'watch' | 'align' | 'close'): number {
    return this.calls.filter((one) => one.startsWith(call)).length
  }

  readonly watching: Pick<AutoscaleActivities, 'watchService'> = {
    watchService: async (input) => {
      this.watches.push(input)
      this.calls.push(`watch ${input.target ?? 'any'}`)
      return this.#watch()
    },
  }

  readonly changing: Pick<AutoscaleActivities, 'alignService' | 'closeAutoscale'> = {
    alignService: async (input) => {
      this.aligned.push(input)
      this.calls.push(`align ${input.target ?? 'any'}`)
      return this.#change('align', this.count('align'), () => this.#align(input))
    },
    closeAutoscale: async () => {
      this.#closings += 1
      this.calls.push('close')
      return this.#change('close', this.#closings, () => {
        const came = this.#options.closingOf?.(this.#closings) ?? { closed: true }
        if ('broken' in came) throw new Error(came.broken)
        return came
      })
    },
  }

  #align(input: AlignInput): AlignResult {
    const came = this.#options.alignmentOf?.(input, this.count('align')) ?? {}
    if ('broken' in came) throw new Error(came.broken)
    const failed = input.cause.kind === 'replace' ? input.cause.failed.length : 0
    const left = this.size - failed
    const target = input.target ?? left
    this.size = came.size ?? (input.mayAdd ? target : Math.min(target, left))
    const done = { size: this.size, target, added: [], givenBack: [], ...came }
    return { ...done, target: targetAfter(done, { cause: input.cause.kind, minSize: 1 }) }
  }

  /**
   * Sends heartbeats, because a watch learns with a heartbeat that it is called off. It may learn that only
   * after the next watch has begun. So only the newest watch takes results.
   */
  async #watch(): Promise<WatchResult> {
    const context = Context.current()
    const beat = setInterval(() => this.#beat(context), beatEveryMs)
    const own: Watch = { wake: () => undefined }
    this.#newest = own
    try {
      for (;;) {
        this.#beat(context)
        if (this.#isAway) throw ApplicationFailure.retryable('the worker went away')
        const seen = this.#newest === own ? this.#seen.shift() : undefined
        if (seen !== undefined) return seen
        const woken = Promise.withResolvers<void>()
        own.wake = woken.resolve
        await Promise.race([woken.promise, context.cancelled])
      }
    } catch (error) {
      if (!this.#isAway) this.calledOff.push('watch')
      throw error
    } finally {
      if (this.#newest === own) this.#newest = undefined
      clearInterval(beat)
    }
  }

  #beat(context: Context): void {
    this.beats += 1
    context.heartbeat({ beats: this.beats })
  }

  async #change<T>(call: 'align' | 'close', nth: number, outcome: () => T): Promise<T> {
    if (this.#changing > 0) this.overlaps += 1
    this.#changing += 1
    try {
      await this.#options.gate?.(call, nth)
      return outcome()
    } finally {
      this.#changing -= 1
    }
  }
}
