import { doublingDelayMs } from '../domain/doubling-delay.ts'

/** Between two sends of the same thing. */
const wait = { firstMs: 2_000, longestMs: 300_000 }

/**
 * When something that was sent and has not had its effect yet is sent again. Each send of a signal is an
 * entry in a history for ever, and a host may be away for days, so the waits grow.
 */
export class ResendSchedule {
  readonly #sent = new Map<string, { readonly times: number; readonly dueAtMs: number }>()

  /** Those that are to be sent now. What is not among `pending` any more is forgotten. */
  due<T>(pending: readonly T[], keyOf: (one: T) => string, nowMs: number): readonly T[] {
    const keys = new Set(pending.map(keyOf))
    for (const key of this.#sent.keys()) if (!keys.has(key)) this.#sent.delete(key)
    return pending.filter((one) => (this.#sent.get(keyOf(one))?.dueAtMs ?? 0) <= nowMs)
  }

  sent(key: string, nowMs: number): void {
    const times = this.#sent.get(key)?.times ?? 0
    this.#sent.set(key, { times: times + 1, dueAtMs: nowMs + doublingDelayMs(wait, times) })
  }
}
