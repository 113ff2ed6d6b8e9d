import { collect } from './collection.ts'
import type { CollectionAges, CollectionDeps } from './collection.ts'
import type { DigestGuard } from './digest-guard.ts'
import { ManifestReferences } from './manifest-references.ts'
import type { PushLedger } from './push-ledger.ts'
import { RestingWork } from './resting-work.ts'
import type { RestingWorkDeps } from './resting-work.ts'
import { takeInventory } from './storage-inventory.ts'
import type { StorageLayout } from './storage-layout.ts'

/** How long unneeded things are kept, and how long they are hidden before they are deleted. */
export interface CollectionTimes {
  readonly usual: CollectionAges
  /** The ages for a user who is near the quota: longer than any push takes today, but shorter than usual. */
  readonly pressed: CollectionAges
  readonly leavingMs: number
  /**
   * The wait between a start and the first collection. Requests that an earlier owner sent to the registry
   * have ended by then.
   */
  readonly firstMs: number
}

export interface StorageUpkeepDeps extends Omit<RestingWorkDeps, 'work'> {
  readonly layout: StorageLayout
  readonly guard: DigestGuard
  readonly ledger: () => PushLedger
  /** The images that instances run, as `<repository>@<digest>`. */
  readonly imagesInUse: () => Promise<ReadonlySet<string>>
  /** The times of the collection. If they are absent, times are used that suit real users. */
  readonly times?: Partial<CollectionTimes> | undefined
}

const hourMs = 3_600_000
const defaultTimes: CollectionTimes = {
  usual: { unreachedMs: 24 * hourMs, uploadMs: 6 * hourMs },
  pressed: { unreachedMs: hourMs, uploadMs: hourMs },
  leavingMs: 60_000,
  firstMs: 60_000,
}
/**
 * The most rounds of one look. Each collection leaves one level for the next: an index, its manifests, their
 * layers.
 */
const maxRounds = 4
const everyMs = 600_000
const marginMs = 1_000

/**
 * Takes an inventory of the storage regularly, reports to the ledger what everybody holds, and deletes what
 * nothing needs.
 */
export class StorageUpkeep {
  readonly #deps: StorageUpkeepDeps
  readonly #times: CollectionTimes
  readonly #work: RestingWork
  readonly #references: ManifestReferences
  readonly #timers: NodeJS.Timeout[] = []
  /** The timer of the look that follows the last deletion. */
  #followUp: NodeJS.Timeout | undefined
  #collectsFromMs = Number.POSITIVE_INFINITY

  constructor(deps: StorageUpkeepDeps) {
    this.#deps = deps
    this.#times = { ...defaultTimes, ...deps.times }
    this.#work = new RestingWork({ ...deps, work: async () => await this.#look() })
    this.#references = new ManifestReferences(deps.layout)
  }

  /** Resolves when the storage was looked at for the first time; throws if that is not possible. */
  async start(): Promise<void> {
    await this.#look()
    this.#collectsFromMs = this.#deps.nowMs() + this.#times.firstMs
    this.#timers.push(
      setTimeout(() => void this.#work.fresh(), this.#times.firstMs + marginMs),
      setInterval(() => void this.#work.fresh(), everyMs),
    )
  }

  /** Resolves when an inventory that began after this call has ended. */
  fresh(): Promise<void> {
    return this.#work.fresh()
  }

  afterDeletion(): void {
    void this.#work.fresh()
    // A second look comes after the time for which manifests are hidden. What the first look hid can not be
    // reached by anybody any more by then, so the second look deletes it.
    clearTimeout(this.#followUp)
    this.#followUp = setTimeout(() => void this.#work.fresh(), this.#times.leavingMs + marginMs)
  }

  close(): void {
    for (const timer of [...this.#timers, this.#followUp]) clearTimeout(timer)
  }

  async #look(): Promise<void> {
    const { guard, layout, nowMs, imagesInUse } = this.#deps
    const ledger = this.#deps.ledger()
    for (let round = 0; round < maxRounds; round++) {
      guard.beginCollection()
      ledger.beginInventory()
      const found = await takeInventory(layout)
      ledger.endInventory(found)
      if (nowMs() < this.#collectsFromMs) return
      if (!(await collect(this.#collection(ledger), found, await imagesInUse()))) return
    }
  }

  #collection(ledger: PushLedger): CollectionDeps {
    const { layout, guard, nowMs } = this.#deps
    const { leavingMs, usual, pressed } = this.#times
    return {
      layout,
      guard,
      references: this.#references,
      leavingMs,
      ages: (user) => (ledger.isPressed(user) ? pressed : usual),
      isActive: (repository, upload) => ledger.isActive(repository, upload),
      nowMs,
    }
  }
}
