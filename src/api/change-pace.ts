import { requestError } from '../contract/errors.ts'
import { changesAtOnce } from '../contract/limits.ts'
import type { Operation } from '../contract/operation.ts'
import { TokenBuckets } from '../domain/token-bucket.ts'

/**
 * Bounds how fast one account may make and change objects, at this API process. Each change costs the
 * database, Temporal, the worker and the agent some tenths of a second of a processor, and no control group
 * shares that time between users. A delete does not count, because the object counted when it was made.
 */
export class ChangePace {
  readonly #perMinute: number
  readonly #atOnce: number
  readonly #buckets: TokenBuckets
  readonly #nowMs: () => number

  constructor(options: { readonly perMinute: number; readonly nowMs: () => number }) {
    this.#perMinute = options.perMinute
    this.#atOnce = Math.max(changesAtOnce, options.perMinute)
    this.#buckets = new TokenBuckets({ perSecond: options.perMinute / 60, burst: this.#atOnce })
    this.#nowMs = options.nowMs
  }

  /**
   * Admits or refuses a request as a whole. An admitted request may go beyond what the account has left;
   * the requests after it then have to wait.
   */
  admit(
    userUuid: string,
    { method }: Pick<Operation, 'method'>,
    objects: readonly { readonly parameters: unknown }[],
  ): void {
    if (method === 'GET' || method === 'DELETE') return
    const count = objects.reduce((sum, { parameters }) => sum + 1 + replicasOf(parameters), 0)
    const waitMs = this.#buckets.waitFor(userUuid, this.#nowMs(), count)
    if (waitMs === 0) return
    const seconds = Math.ceil(waitMs / 1_000)
    const bounds = { perMinute: this.#perMinute, atOnce: this.#atOnce }
    throw requestError('tooManyChanges', { seconds, ...bounds }, { 'Retry-After': String(seconds) })
  }
}

function replicasOf(parameters: unknown): number {
  const { replicas } = parameters as { readonly replicas?: unknown }
  return typeof replicas === 'number' ? replicas : 0
}
