/**
 * The places for streams at one process. While there are free places, an account may take as many as it
 * likes. If there are none, an account that has fewer than another gets one of the other's.
 */
export class StreamPlaces {
  readonly #most: number
  readonly #streams = new Map<string, Set<AbortController>>()
  #count = 0

  constructor(most: number) {
    this.#most = most
  }

  /**
   * Takes a place. The signal aborts when the place is taken away. Undefined if there is none for this
   * account.
   */
  take(account: string): { readonly signal: AbortSignal; readonly leave: () => void } | undefined {
    const own = this.#streams.get(account) ?? new Set()
    if (this.#count >= this.#most && !this.#makeRoom(own.size)) return undefined
    const stream = new AbortController()
    this.#streams.set(account, own.add(stream))
    this.#count += 1
    return { signal: stream.signal, leave: () => this.#leave(account, stream) }
  }

  /** Takes the newest place of the account with the most, if that has at least two more than `others`. */
  #makeRoom(others: number): boolean {
    const [largest] = [...this.#streams].toSorted(([, one], [, other]) => other.size - one.size)
    if (largest === undefined) return false
    const [account, streams] = largest
    const newest = [...streams].at(-1)
    if (newest === undefined || streams.size < others + 2) return false
    newest.abort()
    this.#leave(account, newest)
    return true
  }

  #leave(account: string, stream: AbortController): void {
    const own = this.#streams.get(account)
    if (own?.delete(stream) !== true) return
    this.#count -= 1
    if (own.size === 0) this.#streams.delete(account)
  }
}
