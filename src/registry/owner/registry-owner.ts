import { once } from 'node:events'
import type { Server } from 'node:http'
import type { RegistrySigningKey } from '../signing-key.ts'
import { createRegistryTokenIssuer } from '../token-issuer.ts'
import { DiskRoom } from './disk-room.ts'
import { createOwnerServer } from './owner-server.ts'
import { PushLedger } from './push-ledger.ts'
import { createPushPermissions } from './push-permissions.ts'
import { RestingWork } from './resting-work.ts'
import { takeInventory } from './storage-inventory.ts'
import { storageLayout } from './storage-layout.ts'
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
  /** On the disk of the storage. */
  readonly freeBytes: () => Promise<number>
  readonly nowMs: () => number
  readonly delay: (ms: number) => Promise<void>
  readonly onError: (error: unknown) => void
}

export interface RegistryOwner {
  /** To be let listen after `start`. */
  readonly server: Server
  /** Finds out what everybody holds. */
  start(): Promise<void>
  close(): Promise<void>
}

const inventoryEveryMs = 600_000
const recordEveryMs = 2_000

/**
 * Stands before the registry: users push and pull by it, and it alone may write to the storage. It counts what each user holds, and
 * refuses what would pass the quota. Why it is so: docs/decisions/0022.
 */
export function createRegistryOwner(deps: RegistryOwnerDeps): RegistryOwner {
  const { nowMs, onError } = deps
  const layout = storageLayout(deps.storageDirectory)
  const upstream = createUpstream(deps.registryUrl)
  const inventory = new RestingWork({ work: lookAtStorage, onError, nowMs, delay: deps.delay })
  const ledger = new PushLedger({
    quotaMb: deps.quotaMb,
    inventory: () => inventory.fresh(),
    room: new DiskRoom({ freeBytes: deps.freeBytes, nowMs }),
    nowMs,
  })
  const permissions = createPushPermissions(deps.key, createRegistryTokenIssuer(deps.key, nowMs), nowMs)
  const server = createOwnerServer({ upstream, permissions, ledger, layout, onError })
  const timers: NodeJS.Timeout[] = []
  let recorded: ReadonlyMap<string, number> | undefined

  async function lookAtStorage(): Promise<void> {
    ledger.beginInventory()
    ledger.endInventory(await takeInventory(layout))
  }

  async function record(): Promise<void> {
    const usage = ledger.usage()
    if (recorded !== undefined && [...usage].every(([user, bytes]) => recorded?.get(user) === bytes)) return
    await deps.recordUsage(usage)
    recorded = usage
  }

  return {
    server,
    async start() {
      await lookAtStorage()
      timers.push(setInterval(() => void inventory.fresh(), inventoryEveryMs))
      timers.push(setInterval(() => void record().catch(onError), recordEveryMs))
      await record()
    },
    async close() {
      for (const timer of timers) clearInterval(timer)
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
