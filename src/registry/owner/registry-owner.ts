import { once } from 'node:events'
import type { Server } from 'node:http'
import type { DiskSize } from '../../domain/host/disk-reserve.ts'
import type { RegistrySigningKey } from '../signing-key.ts'
import { createRegistryTokenIssuer } from '../token-issuer.ts'
import { DigestGuard } from './digest-guard.ts'
import { DiskRoom } from './disk-room.ts'
import { ImageDeletions } from './image-deletions.ts'
import { createOwnerServer } from './owner-server.ts'
import { PushLedger } from './push-ledger.ts'
import { createPushPermissions } from './push-permissions.ts'
import { storageLayout } from './storage-layout.ts'
import { StorageUpkeep } from './storage-upkeep.ts'
import type { CollectionTimes } from './storage-upkeep.ts'
import { createUpstream } from './upstream.ts'

export interface RegistryOwnerDeps {
  /** The registry itself, as nobody else writes to it. */
  readonly registryUrl: string
  readonly storageDirectory: string
  readonly key: RegistrySigningKey
  /** The quota `registry_mb` of a user; undefined where there is no such user. */
  readonly quotaMb: (user: string) => Promise<number | undefined>
  /** Told what each user holds, in bytes, whenever that has changed. Who is not named holds nothing. */
  readonly recordUsage: (usage: ReadonlyMap<string, number>) => Promise<void>
  /** That of the storage. */
  readonly disk: () => Promise<DiskSize>
  /** What instances run, as `<repository>@<digest>`. */
  readonly imagesInUse: () => Promise<ReadonlySet<string>>
  /** Of the collection; absent: those that suit real users. */
  readonly times?: Partial<CollectionTimes>
  /** Of clients; absent: what suits real users. */
  readonly maxConnections?: number
  readonly nowMs: () => number
  readonly delay: (ms: number) => Promise<void>
  readonly onError: (error: unknown) => void
}

export interface RegistryOwner {
  /** To be let listen after `start`. */
  readonly server: Server
  /** Finds out what everybody holds. */
  start(): Promise<void>
  /** Deletes what nothing needs. Resolves when that is done, for what there was at the call. */
  collect(): Promise<void>
  close(): Promise<void>
}

const recordEveryMs = 2_000

/**
 * Stands before the registry: users push and pull by it, and it alone may write to the storage. It counts
 * what each user holds, and refuses what would pass the quota, and deletes what nothing needs. Why it is so:
 * docs/decisions/0022.
 */
export function createRegistryOwner(deps: RegistryOwnerDeps): RegistryOwner {
  const { nowMs, onError, delay, imagesInUse, times } = deps
  const layout = storageLayout(deps.storageDirectory)
  const upstream = createUpstream(deps.registryUrl)
  const guard = new DigestGuard()
  const upkeep = new StorageUpkeep({
    layout,
    guard,
    ledger: () => ledger,
    imagesInUse,
    times,
    nowMs,
    onError,
    delay,
  })
  const ledger = new PushLedger({
    quotaMb: deps.quotaMb,
    inventory: () => upkeep.fresh(),
    room: new DiskRoom({ disk: deps.disk, nowMs }),
    nowMs,
  })
  const permissions = createPushPermissions(deps.key, createRegistryTokenIssuer(deps.key, nowMs), nowMs)
  const deletions = new ImageDeletions(layout, () => upkeep.afterDeletion())
  const server = createOwnerServer({
    upstream,
    permissions,
    ledger,
    layout,
    guard,
    deletions,
    nowMs,
    onError,
    maxConnections: deps.maxConnections,
  })
  let recording: NodeJS.Timeout | undefined
  let recorded: ReadonlyMap<string, number> | undefined

  async function record(): Promise<void> {
    const usage = ledger.usage()
    if (recorded !== undefined && [...usage].every(([user, bytes]) => recorded?.get(user) === bytes)) return
    await deps.recordUsage(usage)
    recorded = usage
  }

  return {
    server,
    async start() {
      await upkeep.start()
      recording = setInterval(() => void record().catch(onError), recordEveryMs)
      await record()
    },
    collect: () => upkeep.fresh(),
    async close() {
      upkeep.close()
      clearInterval(recording)
      if (server.listening) {
        const closed = once(server, 'close')
        server.close()
        server.closeAllConnections()
        await closed
      }
      upstream.close()
      await record().catch(onError)
    },
  }
}
