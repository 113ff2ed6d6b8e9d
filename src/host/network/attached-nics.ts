import { placeOf } from './address-plan.ts'
import type { AddressPlan } from './address-plan.ts'
import type { BoundVm } from './filter-rules.ts'
import type { NicSpec } from './network.ts'

/**
 * An attachment that this process knows. It is noted before it is made, with `complete` false, and forgotten
 * after it was removed.
 */
export interface AttachedNic {
  readonly nic: NicSpec
  readonly vm: BoundVm
  complete: boolean
  standing: boolean
  /** Whether the first packet of a peer has been reported in this standby. */
  told: boolean
}

/**
 * The attachments that this process knows. No two have the same address, and no two the same place: the
 * address in this host's network after which the TAP is named. Both differ only for an instance with a seat.
 */
export class AttachedNics {
  readonly #plan: AddressPlan
  readonly #byPlace = new Map<string, AttachedNic>()
  readonly #byIp = new Map<string, AttachedNic>()

  constructor(plan: AddressPlan) {
    this.#plan = plan
  }

  /** The attachment of exactly this instance with this address at this place. */
  of(nic: NicSpec): AttachedNic | undefined {
    const found = this.#byIp.get(nic.ip)
    return found !== undefined && isSame(found.nic, nic) ? found : undefined
  }

  /** Others that have the address or the place. They have to go before the instance can be attached. */
  inTheWayOf(nic: NicSpec): readonly AttachedNic[] {
    const found = [this.#byIp.get(nic.ip), this.#byPlace.get(placeOf(this.#plan, nic))]
    return [...new Set(found)].filter((one) => one !== undefined && !isSame(one.nic, nic)) as AttachedNic[]
  }

  withAddress(ip: string): AttachedNic | undefined {
    return this.#byIp.get(ip)
  }

  all(): readonly AttachedNic[] {
    return [...this.#byPlace.values()]
  }

  add(attached: AttachedNic): void {
    this.#byIp.set(attached.nic.ip, attached)
    this.#byPlace.set(placeOf(this.#plan, attached.nic), attached)
  }

  delete({ nic }: AttachedNic): void {
    this.#byIp.delete(nic.ip)
    this.#byPlace.delete(placeOf(this.#plan, nic))
  }

  clear(): void {
    this.#byIp.clear()
    this.#byPlace.clear()
  }
}

function isSame(one: NicSpec, other: NicSpec): boolean {
  return (
    one.instanceUuid === other.instanceUuid &&
    one.userUuid === other.userUuid &&
    one.mac === other.mac &&
    one.ip === other.ip &&
    one.seat === other.seat
  )
}
