import { namespaceOf, officialNamespace } from '../../domain/image/reference.ts'
import type { DiskRoom } from './disk-room.ts'
import { RegistryRefusal } from './registry-refusal.ts'
import { StorageAccount } from './storage-account.ts'
import type { Inventory } from './storage-inventory.ts'

export interface PushLedgerDeps {
  /** The quota `registry_mb` of a user, or undefined if there is no such user. */
  readonly quotaMb: (user: string) => Promise<number | undefined>
  /** Resolves after an inventory that began after this call. */
  readonly inventory: () => Promise<void>
  readonly room: DiskRoom
  readonly nowMs: () => number
}

const bytesPerMb = 1_048_576
const pressedShare = 0.8
/** How long a quota that was read from the database is used before it is read again. */
const quotaKeptMs = 2_000

/** One user's pushes: what is held, and what may be held. */
export interface PushAccount {
  readonly user: string
  readonly storage: StorageAccount
  /** The most bytes that the user may hold. It is infinite for the platform's own images. */
  boundBytes: number
  readMs: number
}

/**
 * Counts what every user holds and admits what still fits. All bytes of all pushes go through it one after
 * the other, so parallel pushes can not pass a bound together.
 */
export class PushLedger {
  readonly #deps: PushLedgerDeps
  readonly #accounts = new Map<string, PushAccount>()
  #takesInventory = false

  constructor(deps: PushLedgerDeps) {
    this.#deps = deps
  }

  /** Called before anything of a request is admitted. Throws if the quota can not be read. */
  async open(repository: string): Promise<PushAccount> {
    const account = this.#account(namespaceOf(repository))
    await this.#deps.room.look()
    if (this.#deps.nowMs() - account.readMs < quotaKeptMs) return account
    if (account.user === officialNamespace) {
      account.boundBytes = Number.POSITIVE_INFINITY
    } else {
      account.boundBytes = ((await this.#deps.quotaMb(account.user)) ?? 0) * bytesPerMb
    }
    account.readMs = this.#deps.nowMs()
    return account
  }

  /**
   * If `bytes` more fit now, into the quota of the user and onto the disk, calls `add`, which counts them,
   * and returns true.
   */
  fits(account: PushAccount, bytes: number, add: () => void): boolean {
    if (bytes > 0 && account.storage.usedBytes + bytes > account.boundBytes) return false
    if (!this.#deps.room.take(bytes)) return false
    add()
    return true
  }

  /**
   * Does the same as `fits`, but before it refuses, it takes a new inventory, because the storage may have
   * shrunk. Throws `RegistryRefusal` if the bytes do not fit.
   */
  async admit(account: PushAccount, bytes: number, add: () => void): Promise<void> {
    if (this.fits(account, bytes, add)) return
    await this.#deps.inventory()
    if (this.fits(account, bytes, add)) return
    throw this.#refusal(account, bytes)
  }

  /** Called when an inventory begins. What is counted from here on is added to what the inventory finds. */
  beginInventory(): void {
    this.#takesInventory = true
    for (const { storage } of this.#accounts.values()) storage.beginInventory()
  }

  endInventory({ holdings }: Inventory): void {
    this.#takesInventory = false
    for (const user of holdings.keys()) this.#account(user)
    for (const [user, { storage }] of this.#accounts) storage.endInventory(holdings.get(user))
  }

  /** The bytes of each user who holds something or held something before. */
  usage(): ReadonlyMap<string, number> {
    return new Map([...this.#accounts].map(([user, { storage }]) => [user, storage.usedBytes]))
  }

  /** Whether what a user holds is near the quota or above it. */
  isPressed(user: string): boolean {
    const account = this.#accounts.get(user)
    if (account === undefined || account.readMs === Number.NEGATIVE_INFINITY) return false
    return account.storage.usedBytes > account.boundBytes * pressedShare
  }

  isActive(repository: string, upload: string): boolean {
    return (this.#accounts.get(namespaceOf(repository))?.storage.sendersOf(upload) ?? 0) > 0
  }

  #account(user: string): PushAccount {
    const known = this.#accounts.get(user)
    if (known !== undefined) return known
    const account = {
      user,
      storage: new StorageAccount(),
      boundBytes: 0,
      readMs: Number.NEGATIVE_INFINITY,
    }
    if (this.#takesInventory) account.storage.beginInventory()
    this.#accounts.set(user, account)
    return account
  }

  #refusal({ user, storage, boundBytes }: PushAccount, bytes: number): RegistryRefusal {
    const wanted = storage.usedBytes + bytes
    if (wanted <= boundBytes) {
      return new RegistryRefusal(
        'DENIED',
        "the disk of the registry is nearly full, so nothing can be pushed; the platform's operator has to make room",
      )
    }
    const mb = (count: number) => Math.ceil(count / bytesPerMb)
    return new RegistryRefusal(
      'DENIED',
      `Quota 'registry_mb' exceeded: the images of '${user}' would take ${mb(wanted)} MiB with this push, ` +
        `${mb(boundBytes)} allowed; delete images that are not needed any more, or ask for a larger quota`,
    )
  }
}
