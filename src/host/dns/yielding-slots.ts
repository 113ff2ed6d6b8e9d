/** The holder of a slot: an instance, by its address, with its user. */
export interface SlotHolder {
  readonly user: string
  readonly ip: string
  /** Called when the slot is taken away for another user: at most once, and never after `release`. */
  readonly giveWay: () => void
}

/**
 * A bounded number of slots that the users of a host share. While there is room, everybody gets one. When
 * all are taken, the user who holds the most gives way to one who holds fewer, with its oldest slot; so one
 * user alone may have all of them, and a user who holds none always gets one as long as there are more
 * slots than users. An instance has a bound of its own besides.
 */
export class YieldingSlots {
  readonly #total: number
  readonly #perInstance: number
  /** The holders of each user, the oldest first. */
  readonly #held = new Map<string, Set<SlotHolder>>()
  readonly #instances = new Map<string, number>()
  #taken = 0
  #gaveWay = 0

  constructor(options: { readonly total: number; readonly perInstance: number }) {
    this.#total = options.total
    this.#perInstance = options.perInstance
  }

  get taken(): number {
    return this.#taken
  }

  /** How many slots have been taken away for another user so far. */
  get gaveWay(): number {
    return this.#gaveWay
  }

  /**
   * Returns true if the instance gets a slot. Returns false if it has as many slots as it may, or if all
   * slots are taken and no user holds more than its own user does.
   */
  take(holder: SlotHolder): boolean {
    if ((this.#instances.get(holder.ip) ?? 0) >= this.#perInstance) return false
    if (this.#taken >= this.#total && !this.#makeRoom(this.#held.get(holder.user)?.size ?? 0)) return false
    const held = this.#held.get(holder.user) ?? new Set()
    this.#held.set(holder.user, held.add(holder))
    this.#instances.set(holder.ip, (this.#instances.get(holder.ip) ?? 0) + 1)
    this.#taken += 1
    return true
  }

  /** Frees the slot. Does nothing for a holder that gave way or never had a slot. */
  release(holder: SlotHolder): void {
    const held = this.#held.get(holder.user)
    if (held?.delete(holder) !== true) return
    if (held.size === 0) this.#held.delete(holder.user)
    const left = (this.#instances.get(holder.ip) ?? 1) - 1
    if (left === 0) this.#instances.delete(holder.ip)
    else this.#instances.set(holder.ip, left)
    this.#taken -= 1
  }

  #makeRoom(ownSlots: number): boolean {
    let most: ReadonlySet<SlotHolder> = new Set()
    for (const held of this.#held.values()) if (held.size > most.size) most = held
    const [oldest] = most
    if (oldest === undefined || most.size <= ownSlots) return false
    this.release(oldest)
    this.#gaveWay += 1
    oldest.giveWay()
    return true
  }
}
