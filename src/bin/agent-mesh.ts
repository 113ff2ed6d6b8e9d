import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { hostAndPort } from '../domain/host-and-port.ts'
import { isJsonObject, parseJson } from '../domain/json-text.ts'
import type { OwnMesh, ToldMesh } from '../domain/host/mesh.ts'
import type { AgentLog } from '../host/agent/agent-ports.ts'
import { replaceText } from '../host/agent/record-file.ts'
import { Mesh } from '../host/mesh/mesh.ts'
import type { TapNetwork } from '../host/network/tap-network.ts'
import type { Settings } from '../settings/settings.ts'

/** The mesh as the agent keeps it. */
export interface KeptMesh {
  /** What the API is told of this host. */
  readonly own: OwnMesh
  /** The revision of the mesh that this host has. */
  readonly revision: string | undefined
  /** Makes the mesh as the API tells it. */
  take(told: ToldMesh): Promise<void>
  /** Repairs what somebody else has changed. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface MeshPlace {
  readonly settings: Settings
  /** Absent if instances have no addresses on this host. */
  readonly network: TapNetwork | undefined
  readonly isJoined: boolean
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
  log,
}: MeshPlace): Promise<KeptMesh | undefined> {
  const { hostsAddress, meshPort, agentDir } = settings
  const host = isJoined ? settings.agentHost : hostsAddress?.host
  if (host === undefined || network === undefined) return undefined
  const mesh = new Mesh({ directory: agentDir, address: network.hostAddress, listenPort: meshPort })
  const file = join(agentDir, 'mesh.json')
  let current: ToldMesh | undefined
  const openNetwork = async ({ gateways }: ToldMesh): Promise<void> =>
    await network.tellMesh({ gateways, instances: new Map() })
  const apply = async (told: ToldMesh): Promise<void> => {
    const changes = await mesh.apply(told.machines)
    if (changes.length > 0) log.info({ changes }, 'the mesh has changed')
    await openNetwork(told)
    current = told
  }
  const kept: KeptMesh = {
    own: { publicKey: await mesh.publicKey(), endpoint: await endpointOf(host, meshPort) },
    get revision() {
      return current?.revision
    },
    async take(told) {
      await apply(told)
      await replaceText(file, JSON.stringify(told), { durable: false })
    },
    async check() {
      const changes = await mesh.check()
      if (changes.length === 0 || current === undefined) return
      log.warn({ changes }, 'the mesh was repaired')
      // An interface that was made anew does not forward yet.
      await openNetwork(current)
    },
    close: async () => await mesh.close(),
  }
  const last = await lastTold(file)
  if (last !== undefined)
    await apply(last).catch((error: unknown) => log.warn({ err: error }, 'the mesh is not as it should be'))
  return kept
}

async function lastTold(file: string): Promise<ToldMesh | undefined> {
  const json = parseJson(await readFile(file, 'utf8').catch(() => ''))
  return isJsonObject(json) && Array.isArray(json['machines']) ? (json as unknown as ToldMesh) : undefined
}

/** WireGuard sends to addresses, so a name is looked up. */
async function endpointOf(host: string, port: number): Promise<string> {
  const { address } = isIP(host) === 0 ? await lookup(host, { order: 'ipv4first' }) : { address: host }
  return hostAndPort({ host: address, port })
}
