import { requestError } from '../../contract/errors.ts'
import { maxExecSessions, maxExecSessionsPerAccount } from '../../contract/limits.ts'

const retryAfterSeconds = 30

/** The places for programs of users at this process. */
export class ExecPlaces {
  readonly #taken = new Map<string, number>()
  #count = 0

  /** Takes a place and returns what gives it back. Throws if there is none for this account. */
  take(account: string): () => void {
    const own = this.#taken.get(account) ?? 0
    if (own >= maxExecSessionsPerAccount) throw refusal(own, maxExecSessionsPerAccount)
    if (this.#count >= maxExecSessions) throw refusal(this.#count, maxExecSessions)
    this.#taken.set(account, own + 1)
    this.#count += 1
    return () => this.#leave(account)
  }

  #leave(account: string): void {
    this.#count -= 1
    const left = (this.#taken.get(account) ?? 1) - 1
    if (left === 0) this.#taken.delete(account)
    else this.#taken.set(account, left)
  }
}

function refusal(count: number, limit: number) {
  return requestError('tooManyPrograms', { count, limit }, { 'Retry-After': String(retryAfterSeconds) })
}
