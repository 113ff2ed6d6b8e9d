import { createHash } from 'node:crypto'
import type { MeshMachine, ToldMesh } from '../../domain/host/mesh.ts'
import { hostAddressIndex, privateAddress } from '../../domain/host/private-address.ts'
import type { Database } from '../database.ts'

/**
 * The mesh of the installation: the hosts that take part, the oldest first. A host that did not join by an
 * invitation is the control plane's machine, which has the gateway.
 */
export async function readMesh({ db }: Database): Promise<ToldMesh> {
  const rows = await db
    .selectFrom('nodes')
    .leftJoin('joinedHosts', 'joinedHosts.hostId', 'nodes.id')
    .select(['nodes.subnet', 'nodes.meshKey', 'nodes.meshEndpoint', 'joinedHosts.hostId as joinedAs'])
    .where('nodes.meshKey', 'is not', null)
    .orderBy('nodes.createdAt')
    .execute()
  const sound = withoutRepeatedKeys(rows)
  const machines = sound.map(({ subnet, meshKey, meshEndpoint }): MeshMachine => ({
    address: privateAddress(subnet, hostAddressIndex),
    publicKey: meshKey ?? '',
    ...(meshEndpoint !== null && { endpoint: meshEndpoint }),
    networks: [subnet],
  }))
  const gateways = machines.flatMap(({ address }, index) =>
    sound[index]?.joinedAs === null ? [address] : [],
  )
  const revision = createHash('sha256')
    .update(JSON.stringify([machines, gateways]))
    .digest('hex')
  return { revision, machines, gateways }
}

/**
 * Leaves out hosts that tell the key of an older host. A hostile one could otherwise make the whole mesh
 * impossible, because no two machines of it may have one key.
 */
function withoutRepeatedKeys<Host extends { readonly meshKey: string | null }>(
  hosts: readonly Host[],
): readonly Host[] {
  const seen = new Set<string | null>()
  return hosts.filter(({ meshKey }) => !seen.has(meshKey) && seen.add(meshKey))
}
