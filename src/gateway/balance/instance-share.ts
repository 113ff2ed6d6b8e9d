import type { HeldShare, ShareChange } from '../../domain/standby/lease-protocol.ts'

/** What a share needs of its instance. */
export interface ShareOwner {
  readonly nowMs: () => number
  /** How many requests and connections are in flight. */
  inFlight(): number
  /** Tells the host that something is given back. */
  give(change: ShareChange): void
  /** Asks the host, or waits with that while its agent is away. Returns false if no answer will come. */
  ask(want: ShareChange & { readonly limit: number }): boolean
}

/**
 * How long the answer counts that the hard limit is used up. While a service is overloaded, its host is not
 * asked for every request.
 */
const usedUpMs = 20

/**
 * The part of an instance's hard limit that this gateway may use, as its host gives it (`lease-protocol.ts`).
 * A host of an older version gives none; the gateway then counts alone.
 */
export class InstanceShare {
  readonly #owner: ShareOwner
  #memoryBoot = 0
  /** What the host has given; undefined if it gives no shares. */
  #given: number | undefined
  /**
   * What may be used of it. It is less than `#given` after the hard limit was lowered, or the host was
   * silent: then the rest is what was in flight at that time, and is given back when it has ended.
   */
  #used = 0
  #hardLimit = 0
  #isAsking = false
  #usedUpUntilMs = 0

  constructor(owner: ShareOwner) {
    this.#owner = owner
  }

  /** Whether the answer to `want` is still to come. */
  get isAsking(): boolean {
    return this.#isAsking
  }

  /** The share, in the form in which `hello` lists it; undefined if there is none. */
  get held(): HeldShare | undefined {
    if (this.#given === undefined || this.#given === 0) return undefined
    return { memoryBoot: this.#memoryBoot, count: this.#given, limit: this.#hardLimit }
  }

  /** How many may be in flight here, of all that the hard limit permits. */
  limit(hardLimit: number): number {
    if (this.#given === undefined) return hardLimit
    if (hardLimit !== this.#hardLimit) this.#setHardLimit(hardLimit)
    return Math.min(this.#used, hardLimit)
  }

  /** The part of the soft limit that goes with the share. */
  softLimit(softLimit: number, hardLimit: number): number {
    const limit = this.limit(hardLimit)
    const part = limit >= hardLimit ? softLimit : Math.ceil((softLimit * limit) / hardLimit)
    return Math.min(limit, part)
  }

  /**
   * Asks for more, for so many that wait. Returns whether an answer will come. It does not if this gateway
   * has all of the hard limit, or has just heard that the others use the rest.
   */
  want(count: number, hardLimit: number): boolean {
    if (this.#isAsking) return true
    if (this.limit(hardLimit) >= hardLimit || this.#owner.nowMs() < this.#usedUpUntilMs) return false
    const unused = this.#unused(this.#used)
    if (unused > 0) this.#owner.give(this.#giveBack(unused, this.#memoryBoot))
    this.#isAsking = this.#owner.ask({ memoryBoot: this.#memoryBoot, count, limit: hardLimit })
    return this.#isAsking
  }

  opened({ memoryBoot, share }: { readonly memoryBoot: number; readonly share?: number }): void {
    if (memoryBoot !== this.#memoryBoot) this.#clear()
    this.#memoryBoot = memoryBoot
    if (share !== undefined) this.#grow(share)
  }

  /** Takes the answer to `want`. */
  answered({ memoryBoot, count }: ShareChange): void {
    if (memoryBoot !== this.#memoryBoot) return
    this.#isAsking = false
    if (count === 0) this.#usedUpUntilMs = this.#owner.nowMs() + usedUpMs
    this.#grow(count)
  }

  /** Gives back what another gateway could use, and half of what is not needed, so that both have room. */
  spare({ memoryBoot, count }: ShareChange): ShareChange {
    const unused = memoryBoot === this.#memoryBoot ? this.#unused() : 0
    return this.#giveBack(Math.max(Math.min(count, unused), Math.floor(unused / 2)), memoryBoot)
  }

  /** Gives back all that quiet connections do not need. Returns undefined if that is nothing. */
  return(): ShareChange | undefined {
    const unused = this.#unused()
    return unused === 0 ? undefined : this.#giveBack(unused, this.#memoryBoot)
  }

  /**
   * The host is silent, and will give the share to others if it hears nothing more. Only what is in flight
   * stays, until it ends.
   */
  hostSilent(): void {
    const gave = this.return()
    this.#used = 0
    if (gave !== undefined) this.#owner.give(gave)
  }

  /** No answer to the last `want` will come, and `want` may ask again. */
  forgetQuestion(): void {
    this.#isAsking = false
  }

  /** A boot is gone. Its memory has ended, and with the memory the share. */
  gone(boot: number): void {
    if (this.#memoryBoot <= boot) this.#clear()
  }

  #clear(): void {
    this.#memoryBoot = 0
    this.#given = undefined
    this.#used = 0
    this.#isAsking = false
    this.#usedUpUntilMs = 0
  }

  #grow(count: number): void {
    this.#given = (this.#given ?? 0) + count
    this.#used += count
  }

  /** What is not in flight. `kept` is not counted as unused either. */
  #unused(kept = 0): number {
    return Math.max(0, (this.#given ?? 0) - Math.max(kept, this.#owner.inFlight()))
  }

  #giveBack(count: number, memoryBoot: number): ShareChange {
    if (count > 0 && this.#given !== undefined) {
      this.#given -= count
      this.#used = Math.min(this.#used, this.#given)
    }
    return { memoryBoot, count }
  }

  /**
   * Follows a change of the hard limit. Each gateway changes what it uses by itself and in proportion. So
   * all together keep a lower limit as soon as enough of what is in flight has ended.
   */
  #setHardLimit(hardLimit: number): void {
    const before = this.#hardLimit
    if (before > 0) this.#used = Math.min(this.#given ?? 0, Math.floor((this.#used * hardLimit) / before))
    this.#hardLimit = hardLimit
    this.#usedUpUntilMs = 0
  }
}
