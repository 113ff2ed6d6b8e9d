import type { Counted } from './ledger-guest.ts'

/**
 * What an instance has promised so far, in the order of its answers, to a client that asks one question
 * after the other.
 */
export class Ledger {
  readonly broken: string[] = []
  readonly #instance: string
  /** Whether the numbers are on a volume, and so outlive the boot. */
  readonly #isKept: boolean
  /** The last number of each boot, in the order in which the boots answered first. */
  readonly #boots = new Map<string, number>()
  /** The sums of the files that it keeps, by name. */
  readonly files = new Map<string, string>()

  constructor(instance: string, isKept: boolean) {
    this.#instance = instance
    this.#isKept = isKept
  }

  get boots(): number {
    return this.#boots.size
  }

  count({ instance, boot, number }: Counted): void {
    if (instance !== this.#instance) {
      this.broken.push(`${this.#instance}: '${instance}' answered in its place`)
      return
    }
    const last = [...this.#boots].at(-1)
    const before = this.#boots.get(boot)
    if (before !== undefined && last?.[0] !== boot)
      this.broken.push(`${instance}: boot ${boot} answered after boot ${last?.[0]} had begun`)
    const least = this.#isKept ? Math.max(0, ...this.#boots.values()) : (before ?? 0)
    if (number <= least) this.broken.push(`${instance}: it counted ${number} after ${least}`)
    this.#boots.set(boot, Math.max(number, before ?? 0))
  }

  /** The file was kept: from now on its sum is promised. */
  keep(file: string, sum: string): void {
    this.files.set(file, sum)
  }

  verifyFile(file: string, sum: string): void {
    const promised = this.files.get(file)
    if (sum !== promised)
      this.broken.push(`${this.#instance}: ${file} has the sum ${sum}, promised was ${promised}`)
  }
}
