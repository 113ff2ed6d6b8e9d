import type { Admission, Ask, Refusal } from '../traffic.ts'
import type { LeasedInstance } from './leased-instance.ts'

/** One request or connection that waits. It is counted from its creation until `settle`. */
export class Waiter {
  readonly ask: Ask
  readonly sinceMs: number
  readonly outcome: Promise<Admission | Refusal>
  /** The line in which it waits. */
  line: WaitingLine | undefined
  /** How long it waits in its line. Whoever lets it wait sets this first. */
  untilMs = 0
  /** The instance whose wake is awaited. */
  member: LeasedInstance | undefined
  /** What the version answered that was asked first, if the request was given to another one since. */
  refusal: Refusal | undefined
  readonly #resolve: (outcome: Admission | Refusal) => void
  readonly #over: () => void
  readonly #aborted = (): void => this.line?.end(this, 'aborted')

  constructor(ask: Ask, options: { readonly sinceMs: number; readonly over: () => void }) {
    const { promise, resolve } = Promise.withResolvers<Admission | Refusal>()
    this.ask = ask
    this.sinceMs = options.sinceMs
    this.outcome = promise
    this.#resolve = resolve
    this.#over = options.over
    ask.signal.addEventListener('abort', this.#aborted, { once: true })
  }

  settle(outcome: Admission | Refusal): void {
    this.#over()
    this.ask.signal.removeEventListener('abort', this.#aborted)
    this.#resolve(outcome)
  }
}

type WaitEnd = Extract<Refusal['reason'], 'aborted' | 'timed-out'>

/**
 * Requests and connections that wait, in the order in which their waits end. That is the order of arrival if
 * all may wait equally long.
 */
export class WaitingLine {
  readonly #nowMs: () => number
  readonly #ended: (waiter: Waiter, why: WaitEnd) => void
  #waiters: Waiter[] = []
  #timer: NodeJS.Timeout | undefined
  /** When the timer ends. By then the waiter for which it was set may have left. */
  #dueAtMs = 0

  /** `ended` is called for a waiter that has left the line because it was aborted or its time is over. */
  constructor(nowMs: () => number, ended: (waiter: Waiter, why: WaitEnd) => void) {
    this.#nowMs = nowMs
    this.#ended = ended
  }

  get length(): number {
    return this.#waiters.length
  }

  at(index: number): Waiter | undefined {
    return this.#waiters[index]
  }

  add(waiter: Waiter): void {
    waiter.line = this
    let index = this.#waiters.length
    while (index > 0 && (this.#waiters[index - 1]?.untilMs ?? 0) > waiter.untilMs) index -= 1
    this.#waiters.splice(index, 0, waiter)
    if (this.#timer === undefined || waiter.untilMs < this.#dueAtMs) this.#arm(waiter.untilMs)
  }

  /** Returns false if the waiter is not in this line. `likelyAt` only makes it quicker. */
  remove(waiter: Waiter, likelyAt = 0): boolean {
    const index = this.#waiters[likelyAt] === waiter ? likelyAt : this.#waiters.indexOf(waiter)
    if (index < 0) return false
    this.#waiters.splice(index, 1)
    waiter.line = undefined
    return true
  }

  /** Removes and returns those that `which` chooses. */
  take(which: (waiter: Waiter) => boolean): readonly Waiter[] {
    const all = this.#waiters
    this.#waiters = []
    const taken: Waiter[] = []
    for (const waiter of all) (which(waiter) ? taken : this.#waiters).push(waiter)
    for (const waiter of taken) waiter.line = undefined
    return taken
  }

  /** Removes a waiter and tells `ended`. */
  end(waiter: Waiter, why: WaitEnd): void {
    if (this.remove(waiter)) this.#ended(waiter, why)
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #arm(dueAtMs: number): void {
    clearTimeout(this.#timer)
    this.#dueAtMs = dueAtMs
    this.#timer = setTimeout(() => this.#due(), Math.max(1, Math.ceil(dueAtMs - this.#nowMs())))
    this.#timer.unref()
  }

  #due(): void {
    this.#timer = undefined
    const nowMs = this.#nowMs()
    for (let first = this.at(0); first !== undefined && first.untilMs <= nowMs; first = this.at(0))
      this.end(first, 'timed-out')
    const first = this.at(0)
    if (first !== undefined) this.#arm(first.untilMs)
  }
}
