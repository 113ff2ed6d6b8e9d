import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isLoopback } from '../domain/host-and-port.ts'
import { isJsonObject, parseJson } from '../domain/json-text.ts'
import type { OwnMesh, ToldMesh } from '../domain/host/mesh.ts'
import type { AgentLog } from '../host/agent/agent-ports.ts'
import { replaceText } from '../host/agent/record-file.ts'
import { MeshEntrance } from '../host/agent/mesh-entrance.ts'
import type { MeshEntranceOptions } from '../host/agent/mesh-entrance.ts'
import type { LeaseServer } from '../host/leases/lease-server.ts'
import { Mesh } from '../host/mesh/mesh.ts'
import { OwnEndpoint } from '../host/mesh/own-endpoint.ts'
import type { TapNetwork } from '../host/network/tap-network.ts'
import type { Settings } from '../settings/settings.ts'

/** The mesh as the agent keeps it. */
export interface KeptMesh {
  /** What the API is told of this host. Undefined while it is not known where the others can reach it. */
  readonly own: OwnMesh | undefined
  /** The revision of the mesh that this host has. */
  readonly revision: string | undefined
  /** Calls `listener` with the mesh that this host has, if it has one, and with each one that it is told. */
  onTold(listener: (told: ToldMesh) => void): void
  /** Makes the mesh as the API tells it. */
  take(told: ToldMesh): Promise<void>
  /** Lets instances of this host reach those that `instances` names now. */
  tellInstances(): void
  /** Repairs what somebody else has changed, and tries again what failed. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface MeshPlace {
  readonly settings: Settings
  /** Absent if instances have no addresses on this host. */
  readonly network: TapNetwork | undefined
  readonly isJoined: boolean
  /** The instances on other hosts that those of this host may reach: the user's UUID by the address. */
  readonly instances: () => ReadonlyMap<string, string>
  readonly log: AgentLog
}

/**
 * Connects this host to the other machines of the installation. Undefined if there are none, or if the agent
 * is not root. The mesh of the last agent is used until the API tells one.
 */
export async function openMesh({
  settings,
  network,
  isJoined,
  instances,
  log,
}: MeshPlace): Promise<KeptMesh | undefined> {
  const { hostsAddress, meshPort, agentDir } = settings
  const host = isJoined ? settings.agentHost : hostsAddress?.host
  if (host === undefined || network === undefined) return undefined
  const mesh = new Mesh({ directory: agentDir, address: network.hostAddress, listenPort: meshPort })
  const file = join(agentDir, 'mesh.json')
  let current: ToldMesh | undefined
  const listeners: ((told: ToldMesh) => void)[] = []
  const opened = new OpenedNetwork(async () => {
    if (current === undefined) return
    const { gateways, controlMachines = [] } = current
    await network.tellMesh({ gateways, controlMachines, instances: instances() })
  }, log)
  const apply = async (told: ToldMesh): Promise<void> => {
    const changes = await mesh.apply(told.machines)
    if (changes.length > 0) log.info({ changes }, 'the mesh has changed')
    current = told
    for (const listener of listeners) listener(told)
    await opened.renew()
  }
  const last = await lastTold(file)
  const before = last?.machines.find(({ address }) => address === network.hostAddress)?.endpoint
  const endpoint = new OwnEndpoint({ host, port: meshPort, before, lookUp, log })
  await endpoint.look()
  const publicKey = await mesh.publicKey()
  const kept: KeptMesh = {
    get own() {
      return endpoint.current === undefined ? undefined : { publicKey, endpoint: endpoint.current }
    },
    get revision() {
      return current?.revision
    },
    onTold(listener) {
      listeners.push(listener)
      if (current !== undefined) listener(current)
    },
    async take(told) {
      await apply(told)
      await replaceText(file, JSON.stringify(told), { durable: false })
    },
    tellInstances: () => opened.renewSoon(),
    async check() {
      await endpoint.look()
      const changes = await mesh.check()
      if (changes.length > 0) log.warn({ changes }, 'the mesh was repaired')
      // An interface that was made anew does not forward yet.
      if (changes.length > 0 || opened.isBehind) await opened.renew()
    },
    close: async () => await mesh.close(),
  }
  if (last !== undefined)
    await apply(last).catch((error: unknown) => log.warn({ err: error }, 'the mesh is not as it should be'))
  return kept
}

/**
 * Keeps the network's filter as the mesh and the names are. Changes that come meanwhile are made together.
 */
class OpenedNetwork {
  readonly #open: () => Promise<void>
  readonly #log: AgentLog
  #isWanted = false
  #isBusy = false
  /** Whether the last change failed. */
  isBehind = false

  constructor(open: () => Promise<void>, log: AgentLog) {
    this.#open = open
    this.#log = log
  }

  async renew(): Promise<void> {
    this.isBehind = true
    await this.#open()
    this.isBehind = false
  }

  renewSoon(): void {
    this.#isWanted = true
    if (!this.#isBusy) void this.#work()
  }

  async #work(): Promise<void> {
    this.#isBusy = true
    while (this.#isWanted) {
      this.#isWanted = false
      await this.renew().catch((error: unknown) =>
        this.#log.warn(
          { err: error },
          'instances of other hosts can not be reached yet; it will be tried again',
        ),
      )
    }
    this.#isBusy = false
  }
}

/**
 * Lets gateways, APIs and workers of other machines ask this host, as long as the mesh says that they may. A
 * host that joined listens for them with TLS anyway. Undefined if nothing has to listen in the mesh.
 */
export function openMeshEntrance(place: {
  readonly settings: Settings
  readonly network: TapNetwork | undefined
  readonly mesh: KeptMesh | undefined
  readonly leaseServer: LeaseServer
  readonly others: Omit<MeshEntranceOptions, 'leases'>
}): { listen(): Promise<void>; close(): void } | undefined {
  const { settings, network, mesh, leaseServer, others } = place
  mesh?.onTold((told) => leaseServer.admitElsewhere(told))
  if (mesh === undefined || network === undefined || !isLoopback(settings.agentHost)) return undefined
  const entrance = new MeshEntrance({
    ...others,
    leases: (request, socket, head, address) => leaseServer.receive(request, socket, head, address),
  })
  mesh.onTold((told) => entrance.admit(told))
  return {
    async listen() {
      await entrance.listen(settings.agentPort, network.hostAddress)
      await network.admitCallers(settings.agentPort)
    },
    close: () => entrance.close(),
  }
}

async function lastTold(file: string): Promise<ToldMesh | undefined> {
  const json = parseJson(await readFile(file, 'utf8').catch(() => ''))
  return isJsonObject(json) && Array.isArray(json['machines']) ? (json as unknown as ToldMesh) : undefined
}

async function lookUp(name: string): Promise<string> {
  return (await lookup(name, { order: 'ipv4first' })).address
}
