import { requestError } from '../../contract/errors.ts'
import {
  maxExecSessions,
  maxExecSessionsPerAccount,
  maxInnerConnections,
  maxInnerConnectionsPerAccount,
} from '../../contract/limits.ts'

const retryAfterSeconds = 30

interface PlacesOptions {
  readonly most: number
  readonly mostPerAccount: number
  readonly failure: 'tooManyPrograms' | 'tooManyConnections'
}

/** The places for programs and copies of users at this process. */
export function programPlaces(): ExecPlaces {
  const mostPerAccount = maxExecSessionsPerAccount
  return new ExecPlaces({ most: maxExecSessions, mostPerAccount, failure: 'tooManyPrograms' })
}

export function connectionPlaces(): ExecPlaces {
  const mostPerAccount = maxInnerConnectionsPerAccount
  return new ExecPlaces({ most: maxInnerConnections, mostPerAccount, failure: 'tooManyConnections' })
}

/** A bounded number of places, of which each account gets at most a share. */
export class ExecPlaces {
  readonly #options: PlacesOptions
  readonly #taken = new Map<string, number>()
  #count = 0

  constructor(options: PlacesOptions) {
    this.#options = options
  }

  /** Takes a place and returns what gives it back. Throws if there is none for this account. */
  take(account: string): () => void {
    const { most, mostPerAccount } = this.#options
    const own = this.#taken.get(account) ?? 0
    if (own >= mostPerAccount) throw this.#refusal(own, mostPerAccount)
    if (this.#count >= most) throw this.#refusal(this.#count, most)
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

  #refusal(count: number, limit: number): Error {
    const headers = { 'Retry-After': String(retryAfterSeconds) }
    return requestError(this.#options.failure, { count, limit }, headers)
  }
}
