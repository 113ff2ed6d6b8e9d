import { listApiAddresses, renewApiAddress } from '../../db/api-addresses.ts'
import type { Database } from '../../db/database.ts'

const renewEveryMs = 3_000

/**
 * Tells the other processes of the API where this one answers machines that joined, and knows where they are.
 * While the database does not answer, those that were known last count.
 */
export class ApiAddresses {
  readonly #database: Database
  readonly #own: string
  #timer: NodeJS.Timeout | undefined
  #current: readonly string[]

  constructor(database: Database, own: string) {
    this.#database = database
    this.#own = own
    this.#current = [own]
  }

  get current(): readonly string[] {
    return this.#current
  }

  begin(): void {
    const renew = (): void => void this.renew().catch(() => undefined)
    renew()
    this.#timer = setInterval(renew, renewEveryMs).unref()
  }

  async renew(): Promise<void> {
    await renewApiAddress(this.#database, this.#own)
    this.#current = await listApiAddresses(this.#database)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
