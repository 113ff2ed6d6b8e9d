import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import type { HostRole } from '../../domain/host/role.ts'
import type { HostLabels } from '../../domain/host/labels.ts'
import type { StateCounts } from '../../domain/instance/tally.ts'
import { heldFootprintMb, promisedFootprintMb, promisedVcpus } from './memory.ts'
import type { Database } from '../database.ts'
import { anyOf } from '../sql/lists.ts'
import { ago, now } from '../sql/time.ts'
import { releasedSecret } from './hosts.ts'

/**
 * A host as its administrator sees it. Its secret is left out, so that the list can be read without the
 * secret key.
 */
export interface NodeOverview {
  readonly id: string
  readonly agentUrl: string
  /** The version of Roost that its agent has. */
  readonly version: string
  readonly accelerator: string
  /** The memory of the instances that have a VM. */
  readonly usedMemoryMb: number
  /** The memory that is needed if all instances of the host that are not stopped run at once. */
  readonly promisedMemoryMb: number
  /** The memory that all VMs of the host may take together. */
  readonly memoryMb: number
  /** The vCPUs of the instances that are not stopped. */
  readonly promisedVcpus: number
  /** The processors of the machine. Null: its agent does not tell. */
  readonly cpus: number | null
  readonly subnet: string
  /** The number of instances, including those that are being deleted. */
  readonly instances: number
  /** The number of volumes, including those that are being deleted. */
  readonly volumes: number
  /** The size of all volumes of the host together. */
  readonly promisedMb: number
  /** Room for volumes, in MiB. */
  readonly volumeMb: number
  readonly heartbeatAt: Date
  readonly live: boolean
  /** Whether an administrator released the id. The next agent that joins under the id becomes this host. */
  readonly released: boolean
  /** When an administrator cordoned the host. Null: new instances and volumes may be placed there. */
  readonly cordonedAt: Date | null
  readonly labels: HostLabels
  /** What its machine does besides running instances. */
  readonly roles: readonly HostRole[]
}

export type NodeRefusal = 'unknown' | 'live' | 'has-instances' | 'has-volumes'
export type NodeChange = { readonly ok: true } | { readonly ok: false; readonly refusal: NodeRefusal }

/** All hosts, by id. */
export async function overlookNodes({ db }: Database): Promise<readonly NodeOverview[]> {
  const rows = await db
    .selectFrom('nodes')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('volumes')
          .whereRef('volumes.nodeId', '=', 'nodes.id')
          .select(({ fn, cast, lit }) => [
            fn.countAll<number>().as('volumes'),
            cast<number>(fn.coalesce(fn.sum('sizeMb'), lit(0)), 'bigint').as('promisedMb'),
          ])
          .as('kept'),
      (join) => join.onTrue(),
    )
    .leftJoin('joinedHosts', 'joinedHosts.hostId', 'nodes.id')
    .select((eb) => [
      'id',
      'agentUrl',
      'version',
      'accelerator',
      'memoryMb',
      'cpus',
      'subnet',
      'volumeMb',
      'heartbeatAt',
      'cordonedAt',
      'labels',
      heldFootprintMb(eb).as('usedMemoryMb'),
      promisedFootprintMb(eb).as('promisedMemoryMb'),
      promisedVcpus(eb).as('promisedVcpus'),
      eb
        .selectFrom('instances')
        .whereRef('nodeId', '=', 'nodes.id')
        .select((of) => of.fn.countAll<number>().as('count'))
        .$asScalar()
        .$notNull()
        .as('instances'),
      'joinedHosts.roles',
      eb.ref('kept.volumes').$notNull().as('volumes'),
      eb.ref('kept.promisedMb').$notNull().as('promisedMb'),
      eb('heartbeatAt', '>', ago(nodeSilentAfterMs)).$castTo<boolean>().as('live'),
      eb('agentSecret', '=', releasedSecret).$castTo<boolean>().as('released'),
    ])
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, roles: row.roles ?? [] }))
}

/** The time of a silent host's last heartbeat. Undefined if the host is live or not known. */
export async function silentSinceOf(database: Database, nodeId: string): Promise<Date | undefined> {
  return (await silentHosts(database, [nodeId])).get(nodeId)
}

/** The time of the last heartbeat of each of these hosts that is silent, by id. */
export async function silentHosts(
  { db }: Database,
  nodeIds: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const nodes = await db
    .selectFrom('nodes')
    .select(['id', 'heartbeatAt'])
    .where('id', '=', anyOf(nodeIds))
    .where('heartbeatAt', '<=', ago(nodeSilentAfterMs))
    .execute()
  return new Map(nodes.map(({ id, heartbeatAt }) => [id, heartbeatAt]))
}

/** How many instances each host has in each state, by the host's id, without those that are being deleted. */
export async function instanceStatesOfNodes({ db }: Database): Promise<ReadonlyMap<string, StateCounts>> {
  const rows = await db
    .selectFrom('instances')
    .where('deletedAt', 'is', null)
    .groupBy(['nodeId', 'state'])
    .select(({ fn }) => ['nodeId', 'state', fn.countAll<number>().as('count')])
    .execute()
  const byNode = Map.groupBy(rows, ({ nodeId }) => nodeId)
  return new Map(
    [...byNode].map(([nodeId, states]) => [
      nodeId,
      Object.fromEntries(states.map(({ state, count }) => [state, count])),
    ]),
  )
}

/** Forgets a silent host that has neither instances nor volumes; its id and its network are free then. */
export async function removeNode(database: Database, nodeId: string): Promise<NodeChange> {
  const removed = await database.db
    .deleteFrom('nodes')
    .where('id', '=', nodeId)
    .where('heartbeatAt', '<=', ago(nodeSilentAfterMs))
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('instances').select('uuid').where('nodeId', '=', nodeId))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('volumes').select('uuid').where('nodeId', '=', nodeId))),
    )
    .returning('id')
    .executeTakeFirst()
  return removed ? { ok: true } : refused(database, nodeId)
}

/** The instances and volumes that are deleted and still wait for the host to remove them. */
export interface LeftOnNode {
  readonly instances: readonly string[]
  readonly volumes: readonly string[]
}

/** What is left on a silent host on which everything is deleted; undefined for any other host. */
export async function leftOnNode({ db }: Database, nodeId: string): Promise<LeftOnNode | undefined> {
  const node = await db
    .selectFrom('nodes')
    .select('id')
    .where('id', '=', nodeId)
    .where('heartbeatAt', '<=', ago(nodeSilentAfterMs))
    .executeTakeFirst()
  if (node === undefined) return undefined
  const left = (table: 'instances' | 'volumes') =>
    db.selectFrom(table).select(['uuid', 'deletedAt']).where('nodeId', '=', nodeId).execute()
  const [instances, volumes] = await Promise.all([left('instances'), left('volumes')])
  if ([...instances, ...volumes].some(({ deletedAt }) => deletedAt === null)) return undefined
  return { instances: instances.map(({ uuid }) => uuid), volumes: volumes.map(({ uuid }) => uuid) }
}

/**
 * Forgets the secret of a silent host. The next agent that joins under its id becomes that host, with its
 * instances and volumes. Refused for a live host, because its next heartbeat would take the id back at once.
 */
export async function releaseNode(database: Database, nodeId: string): Promise<NodeChange> {
  const released = await database.db
    .updateTable('nodes')
    .set({ agentSecret: releasedSecret })
    .where('id', '=', nodeId)
    .where('heartbeatAt', '<=', ago(nodeSilentAfterMs))
    .returning('id')
    .executeTakeFirst()
  return released ? { ok: true } : refused(database, nodeId)
}

/**
 * Says whether new instances and volumes may be placed on the host. Those that it has go on, restart, wake
 * and start there in both cases. When this returns after a cordon, no placement is under way there that is
 * not committed. Idempotent: a second cordon keeps the time of the first.
 */
export async function setCordon(
  { db }: Database,
  nodeId: string,
  isCordoned: boolean,
): Promise<{ readonly ok: true } | { readonly ok: false; readonly refusal: 'unknown' }> {
  const changed = await db
    .updateTable('nodes')
    .set((eb) => ({ cordonedAt: isCordoned ? eb.fn.coalesce('cordonedAt', now) : null }))
    .where('id', '=', nodeId)
    .returning('id')
    .executeTakeFirst()
  return changed ? { ok: true } : { ok: false, refusal: 'unknown' }
}

async function refused(database: Database, nodeId: string): Promise<NodeChange> {
  const node = (await overlookNodes(database)).find(({ id }) => id === nodeId)
  if (node === undefined) return { ok: false, refusal: 'unknown' }
  if (node.live) return { ok: false, refusal: 'live' }
  return { ok: false, refusal: node.instances > 0 ? 'has-instances' : 'has-volumes' }
}
