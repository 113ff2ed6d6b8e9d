import { collect } from './collection.ts'
import type { CollectionAges, CollectionDeps } from './collection.ts'
import type { DigestGuard } from './digest-guard.ts'
import { ManifestReferences } from './manifest-references.ts'
import type { PushLedger } from './push-ledger.ts'
import { RestingWork } from './resting-work.ts'
import type { RestingWorkDeps } from './resting-work.ts'
import { takeInventory } from './storage-inventory.ts'
import type { StorageLayout } from './storage-layout.ts'

/** How long what nothing needs is kept, and how carefully it goes. */
export interface CollectionTimes {
  readonly usual: CollectionAges
  /** Of a user who is near the quota: longer than any push of today takes, shorter than the day. */
  readonly pressed: CollectionAges
  readonly leavingMs: number
  /** After a start: what an owner before sent on is done by then. */
  readonly firstMs: number
}

export interface StorageUpkeepDeps extends Omit<RestingWorkDeps, 'work'> {
  readonly layout: StorageLayout
  readonly guard: DigestGuard
  readonly ledger: () => PushLedger
  /** What instances run, as `<repository>@<digest>`. */
  readonly imagesInUse: () => Promise<ReadonlySet<string>>
  /** Absent: those that suit real users. */
  readonly times?: Partial<CollectionTimes> | undefined
}

const hourMs = 3_600_000
const defaultTimes: CollectionTimes = {
  usual: { unreachedMs: 24 * hourMs, uploadMs: 6 * hourMs },
  pressed: { unreachedMs: hourMs, uploadMs: hourMs },
  leavingMs: 60_000,
  firstMs: 60_000,
}
/** What one collection leaves for the next one: an index, its manifests, their layers. */
const maxRounds = 4
const everyMs = 600_000
const marginMs = 1_000

/**
 * Looks at the storage now and then, tells the ledger what everybody holds, and deletes what nothing needs.
 */
export class StorageUpkeep {
  readonly #deps: StorageUpkeepDeps
  readonly #times: CollectionTimes
  readonly #work: RestingWork
  readonly #references: ManifestReferences
  readonly #timers: NodeJS.Timeout[] = []
  /** Of the last deletion. */
  #followUp: NodeJS.Timeout | undefined
  #collectsFromMs = Number.POSITIVE_INFINITY

  constructor(deps: StorageUpkeepDeps) {
    this.#deps = deps
    this.#times = { ...defaultTimes, ...deps.times }
    this.#work = new RestingWork({ ...deps, work: async () => await this.#look() })
    this.#references = new ManifestReferences(deps.layout)
  }

  /** Resolves when the storage was looked at for the first time; throws where that is not possible. */
  async start(): Promise<void> {
    await this.#look()
    this.#collectsFromMs = this.#deps.nowMs() + this.#times.firstMs
    this.#timers.push(
      setTimeout(() => void this.#work.fresh(), this.#times.firstMs + marginMs),
      setInterval(() => void this.#work.fresh(), everyMs),
    )
  }

  /** Resolves when a look that began after this call has ended. */
  fresh(): Promise<void> {
    return this.#work.fresh()
  }

  afterDeletion(): void {
    void this.#work.fresh()
    // What was found unneeded then can not be found by anybody any more, and goes now.
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
