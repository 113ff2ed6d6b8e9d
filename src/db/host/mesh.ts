import { createHash } from 'node:crypto'
import type { MeshMachine, ToldMesh } from '../../domain/host/mesh.ts'
import { hasPart, isControlRole } from '../../domain/host/role.ts'
import { hostAddressIndex, privateAddress } from '../../domain/host/private-address.ts'
import { PlatformPart } from '../../domain/platform-part.ts'
import type { Database } from '../database.ts'

/**
 * The mesh of the installation: the hosts that take part, the oldest first. A host that did not join by an
 * invitation is the control plane's machine, which has a gateway. Others have one if it is their role.
 */
export async function readMesh({ db }: Database): Promise<ToldMesh> {
  const rows = await db
    .selectFrom('nodes')
    .leftJoin('joinedHosts', 'joinedHosts.hostId', 'nodes.id')
    .select(['nodes.subnet', 'nodes.meshKey', 'nodes.meshEndpoint', 'joinedHosts.roles'])
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
  const isGateway = ({ roles }: (typeof rows)[number]) =>
    roles === null || hasPart(roles, PlatformPart.Gateway)
  const gateways = machines.flatMap(({ address }, index) => (isGateway(sound[index]!) ? [address] : []))
  const controlMachines = machines.flatMap(({ address }, index) =>
    sound[index]!.roles?.some(isControlRole) === true ? [address] : [],
  )
  const told = { machines, gateways, gatewayHosts: await gatewayHostsOf(db), controlMachines }
  const revision = createHash('sha256').update(JSON.stringify(told)).digest('hex')
  return { revision, ...told }
}

/** The hosts that joined with a gateway, whether or not they take part in the mesh yet. */
async function gatewayHostsOf(db: Database['db']): Promise<readonly string[]> {
  const joined = await db.selectFrom('joinedHosts').select(['hostId', 'roles']).orderBy('hostId').execute()
  return joined.flatMap(({ hostId, roles }) => (hasPart(roles, PlatformPart.Gateway) ? [hostId] : []))
}

/**
 * Leaves out hosts with the key of an older host, because no two machines of the mesh may have one key.
 * Heartbeats write no key that another host has, so there are such rows of earlier versions alone.
 */
function withoutRepeatedKeys<Host extends { readonly meshKey: string | null }>(
  hosts: readonly Host[],
): readonly Host[] {
  const seen = new Set<string | null>()
  return hosts.filter(({ meshKey }) => !seen.has(meshKey) && seen.add(meshKey))
}
