import { doublingDelayMs } from '../domain/doubling-delay.ts'

/** The waits between two sends of the same signal. */
const wait = { firstMs: 2_000, longestMs: 300_000 }

/**
 * Decides when a signal that had no effect yet is sent again. Each send adds an entry to a workflow's
 * history for ever, and a host may be away for days. So the wait doubles with each send, from 2 s to 5 min.
 */
export class ResendSchedule {
  readonly #sent = new Map<string, { readonly times: number; readonly dueAtMs: number }>()

  /**
   * Returns the entries of `pending` that are to be sent now. Forgets entries that are not in `pending` any
   * more.
   */
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
