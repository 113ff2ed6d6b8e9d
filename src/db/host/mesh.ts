import { createHash } from 'node:crypto'
import type { MeshMachine, ToldMesh } from '../../domain/host/mesh.ts'
import { hasPart, isControlRole } from '../../domain/host/role.ts'
import { hostAddressIndex, privateAddress } from '../../domain/host/private-address.ts'
import { PlatformPart } from '../../domain/platform-part.ts'
import type { Database } from '../database.ts'

/**
 * The mesh of the installation: the hosts that take part, the oldest first. A host that did not join by an
 * invitation is the control plane's machine, which has a gateway. Others have one if it is their role.
 *
 * A host has its own network, and single addresses of other hosts' networks: those of the instances that have
 * moved there. So every host hears of a move by the next revision of the mesh.
 */
export async function readMesh({ db }: Database): Promise<ToldMesh> {
  const rows = await db
    .selectFrom('nodes')
    .leftJoin('joinedHosts', 'joinedHosts.hostId', 'nodes.id')
    .select(['nodes.id', 'nodes.subnet', 'nodes.meshKey', 'nodes.meshEndpoint', 'joinedHosts.roles'])
    .where('nodes.meshKey', 'is not', null)
    .orderBy('nodes.createdAt')
    .execute()
  const sound = withoutRepeatedKeys(rows)
  const seated = await seatedAddresses(db)
  const machines = sound.map(({ id, subnet, meshKey, meshEndpoint }): MeshMachine => ({
    address: privateAddress(subnet, hostAddressIndex),
    publicKey: meshKey ?? '',
    ...(meshEndpoint !== null && { endpoint: meshEndpoint }),
    networks: [subnet, ...(seated.get(id) ?? []).map((ip) => `${ip}/32`)],
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

/** The addresses of instances with a seat, by host and sorted. Few instances have one. */
async function seatedAddresses(db: Database['db']): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db
    .selectFrom('nodes')
    .innerJoin('instances', 'instances.nodeId', 'nodes.id')
    .select(['nodes.id', 'instances.privateIp'])
    .where('nodes.meshKey', 'is not', null)
    .where('instances.seatIp', 'is not', null)
    .where('instances.deletedAt', 'is', null)
    .execute()
  const byHost = Map.groupBy(rows, ({ id }) => id)
  return new Map([...byHost].map(([id, found]) => [id, found.map(({ privateIp }) => privateIp).toSorted()]))
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
