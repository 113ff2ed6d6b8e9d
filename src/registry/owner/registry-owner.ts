import { once } from 'node:events'
import type { Server } from 'node:http'
import type { DiskSize } from '../../domain/host/disk-reserve.ts'
import type { RegistrySigningKey } from '../signing-key.ts'
import { createRegistryTokenIssuer } from '../token-issuer.ts'
import { DigestGuard } from './digest-guard.ts'
import { DiskRoom } from './disk-room.ts'
import { ImageDeletions } from './image-deletions.ts'
import { createOwnerServer } from './owner-server.ts'
import type { ImageChange } from './push-handlers.ts'
import { PushLedger } from './push-ledger.ts'
import { createPushPermissions } from './push-permissions.ts'
import { storageLayout } from './storage-layout.ts'
import { StorageUpkeep } from './storage-upkeep.ts'
import type { CollectionTimes } from './storage-upkeep.ts'
import { createUpstream } from './upstream.ts'

export interface RegistryOwnerDeps {
  /** The registry itself, to which nobody else writes. */
  readonly registryUrl: string
  readonly storageDirectory: string
  readonly key: RegistrySigningKey
  /** The quota `registry_mb` of a user, or undefined if there is no such user. */
  readonly quotaMb: (user: string) => Promise<number | undefined>
  /**
   * Called with what each user holds, in bytes, whenever that has changed. A user who is not named holds
   * nothing.
   */
  readonly recordUsage: (usage: ReadonlyMap<string, number>) => Promise<void>
  /** The size and the free room of the storage's disk. */
  readonly disk: () => Promise<DiskSize>
  /** The images that instances run, as `<repository>@<digest>`. */
  readonly imagesInUse: () => Promise<ReadonlySet<string>>
  /** The times of the collection. If they are absent, times are used that suit real users. */
  readonly times?: Partial<CollectionTimes>
  /** The domain below which the gateway serves the registry and the API. Absent: it serves neither. */
  readonly metroDomain?: string | undefined
  /** The most connections of clients. If it is absent, a number is used that suits real users. */
  readonly maxConnections?: number
  readonly nowMs: () => number
  readonly delay: (ms: number) => Promise<void>
  /** Called when a user has pushed or deleted an image. */
  readonly onImage: (change: ImageChange) => void
  readonly onError: (error: unknown) => void
}

export interface RegistryOwner {
  /** The server for users' requests. The caller makes it listen after `start`. */
  readonly server: Server
  /** Takes the first inventory, and so learns what every user holds. */
  start(): Promise<void>
  /** Deletes what nothing needs. Resolves when that is done for everything that existed at the call. */
  collect(): Promise<void>
  close(): Promise<void>
}

const recordEveryMs = 2_000

/**
 * Stands in front of the registry: users push and pull through it, and it alone may write to the storage. It
 * counts what each user holds, refuses what would exceed the quota, and deletes what nothing needs. The
 * reasons are in docs/decisions/0022.
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
    onImage: deps.onImage,
    metroDomain: deps.metroDomain,
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
