import { randomBytes } from 'node:crypto'

/**
 * The secret from which the keys of TLS session tickets follow. Processes with the same secret resume each
 * other's sessions. `current` may change at any time.
 */
export interface TicketSecret {
  readonly current: Buffer
}

const secretBytes = 32
/**
 * How long a secret for tickets is used. An attacker who obtains it can read what was sent under it. A new
 * secret also ends sessions that are resumed again and again.
 */
const secretLifeMs = 12 * 3_600_000

/** A secret that is renewed when it is asked for and is too old. */
export class RenewedTicketSecret implements TicketSecret {
  readonly #now: () => number
  #secret = randomBytes(secretBytes)
  #madeMs: number

  constructor(now: () => number = Date.now) {
    this.#now = now
    this.#madeMs = now()
  }

  get current(): Buffer {
    const nowMs = this.#now()
    // A clock that was set back must not keep the secret for longer.
    if (Math.abs(nowMs - this.#madeMs) >= secretLifeMs) {
      this.#secret = randomBytes(secretBytes)
      this.#madeMs = nowMs
    }
    return this.#secret
  }
}
