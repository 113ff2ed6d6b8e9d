import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createRegistryOwner } from '../../src/registry/owner/registry-owner.ts'
import type { ImageChange } from '../../src/registry/owner/push-handlers.ts'
import type { RegistryOwner, RegistryOwnerDeps } from '../../src/registry/owner/registry-owner.ts'
import { startTestRegistry, testUsers } from './registry.ts'
import type { TestRegistry } from './registry.ts'

/** A real registry behind its owner, which runs in this process. */
export interface OwnedRegistry {
  /** The registry itself, past the owner. */
  readonly registry: TestRegistry
  /** `127.0.0.1:<port>` of the owner. */
  readonly host: string
  readonly url: string
  readonly quotasMb: Map<string, number>
  /** The changes of images that the owner has told. */
  readonly changes: readonly ImageChange[]
  /** The usage that the owner reported last. */
  usage(): ReadonlyMap<string, number>
  owner(): RegistryOwner
  /** Replaces the owner by a new one at the same address, on the same storage, as after a crash. */
  restart(changed?: Partial<RegistryOwnerDeps>): Promise<void>
  /** Gets a token of the user for one repository, like any client. */
  token(user: string, repository: string): Promise<string>
  close(): Promise<void>
}

const plentyBytes = 2 ** 40

export async function startOwnedRegistry(deps: Partial<RegistryOwnerDeps> = {}): Promise<OwnedRegistry> {
  const registry = await startTestRegistry({ bounded: true })
  const quotasMb = new Map(testUsers.map(({ name }) => [name, 1_000]))
  const changes: ImageChange[] = []
  let usage: ReadonlyMap<string, number> = new Map()
  let owner: RegistryOwner | undefined
  let port = 0

  async function start(changed: Partial<RegistryOwnerDeps> = {}): Promise<RegistryOwner> {
    const started = createRegistryOwner({
      registryUrl: registry.url,
      storageDirectory: registry.storageDirectory,
      key: registry.key,
      quotaMb: async (user) => quotasMb.get(user),
      recordUsage: async (told) => void (usage = told),
      imagesInUse: async () => new Set(),
      disk: async () => ({ freeBytes: plentyBytes, totalBytes: plentyBytes }),
      nowMs: Date.now,
      delay: async () => undefined,
      onImage: (change) => void changes.push(change),
      onError: (error) => {
        throw error
      },
      ...deps,
      ...changed,
    })
    await started.start()
    started.server.listen(port, '127.0.0.1')
    await once(started.server, 'listening')
    port = (started.server.address() as AddressInfo).port
    owner = started
    return started
  }
  await start()
  return {
    registry,
    get host() {
      return `127.0.0.1:${port}`
    },
    get url() {
      return `http://127.0.0.1:${port}`
    },
    quotasMb,
    changes,
    usage: () => usage,
    owner: () => {
      if (owner === undefined) throw new Error('there is no owner')
      return owner
    },
    async restart(changed) {
      await owner?.close()
      await start(changed)
    },
    async token(user, repository) {
      const password = testUsers.find(({ name }) => name === user)?.password ?? 'wrong'
      const scope = `repository:${repository}:pull,push,delete`
      const answer = await fetch(`${registry.tokenUrl}?service=roost-registry&scope=${scope}`, {
        headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
      })
      return ((await answer.json()) as { token: string }).token
    },
    async close() {
      await owner?.close()
      await registry.close()
    },
  }
}
