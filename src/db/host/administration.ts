import { theOperator } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import { useNews } from '../../domain/host/news.ts'
import type { HostUpgrade } from '../../domain/host/upgrade.ts'
import type { HostRole } from '../../domain/host/role.ts'
import type { HostLabels } from '../../domain/host/labels.ts'
import { HostUse, hostUse } from '../../domain/host/use.ts'
import type { StateCounts } from '../../domain/instance/tally.ts'
import { tellOfHost } from './events.ts'
import { isLive } from './live.ts'
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
  /** Its upgrade that is under way, or the last one. Null: it told none. */
  readonly upgrade: HostUpgrade | null
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
  /** The number of instances with a volume that are not being deleted. */
  readonly withVolume: number
  /** The number of volumes, including those that are being deleted. */
  readonly volumes: number
  /** The size of all volumes of the host together. */
  readonly promisedMb: number
  /** Room for volumes, in MiB. */
  readonly volumeMb: number
  readonly heartbeatAt: Date
  readonly live: boolean
  /** Since when it is to be emptied. Null: it is not. */
  readonly drainingAt: Date | null
  /** For how long its VMs may go on without an answer of the API. Null: they do not end by themselves. */
  readonly termMs: number | null
  /** When it was declared lost. Null: it is not. */
  readonly lostAt: Date | null
  /** When an administrator removed it as lost; the row goes once nothing is on it. Null: nobody did. */
  readonly removedAt: Date | null
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
      'upgrade',
      'accelerator',
      'memoryMb',
      'cpus',
      'subnet',
      'volumeMb',
      'heartbeatAt',
      'termMs',
      'lostAt',
      'removedAt',
      'cordonedAt',
      'drainingAt',
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
      eb
        .selectFrom('instances')
        .whereRef('nodeId', '=', 'nodes.id')
        .where('volumeUuid', 'is not', null)
        .where('deletedAt', 'is', null)
        .select((of) => of.fn.countAll<number>().as('count'))
        .$asScalar()
        .$notNull()
        .as('withVolume'),
      'joinedHosts.roles',
      eb.ref('kept.volumes').$notNull().as('volumes'),
      eb.ref('kept.promisedMb').$notNull().as('promisedMb'),
      isLive(eb).$castTo<boolean>().as('live'),
      eb('agentSecret', '=', releasedSecret).$castTo<boolean>().as('released'),
    ])
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, roles: row.roles ?? [] }))
}

/** Since when a host is not live. */
export interface Absence {
  /** The time of its last heartbeat. */
  readonly heardAt: Date
  /** When it was declared lost. Null: it is only silent. */
  readonly lostAt: Date | null
}

/** Undefined if the host is live or not known. */
export async function absenceOf(database: Database, nodeId: string): Promise<Absence | undefined> {
  return (await absentHosts(database, [nodeId])).get(nodeId)
}

/** Those of these hosts that are not live, by id. */
export async function absentHosts(
  { db }: Database,
  nodeIds: readonly string[],
): Promise<ReadonlyMap<string, Absence>> {
  const nodes = await db
    .selectFrom('nodes')
    .select(['id', 'heartbeatAt as heardAt', 'lostAt'])
    .where('id', '=', anyOf(nodeIds))
    .where((eb) => eb.not(isLive(eb)))
    .execute()
  return new Map(nodes.map(({ id, ...absence }) => [id, absence]))
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
    .where('removedAt', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return released ? { ok: true } : refused(database, nodeId)
}

/**
 * Sets the use of a host, and tells administrators if it was another one before. When this returns after a
 * cordon, no placement is under way there that is not committed. Idempotent: a second cordon or drain keeps
 * the time of the first. A cordon takes a drain back.
 */
export async function setUse(
  { db }: Database,
  nodeId: string,
  use: HostUse,
  asker: Asker = theOperator,
): Promise<{ readonly ok: true } | { readonly ok: false; readonly refusal: 'unknown' }> {
  return await db.transaction().execute(async (db) => {
    const before = await db
      .selectFrom('nodes')
      .select(['cordonedAt', 'drainingAt'])
      .where('id', '=', nodeId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (before === undefined) return { ok: false, refusal: 'unknown' }
    await db
      .updateTable('nodes')
      .set((eb) => ({
        cordonedAt: use === HostUse.Open ? null : eb.fn.coalesce('cordonedAt', now),
        drainingAt: use === HostUse.Draining ? eb.fn.coalesce('drainingAt', now) : null,
      }))
      .where('id', '=', nodeId)
      .execute()
    await tellOfHost(db, nodeId, useNews({ from: hostUse(before), to: use, asker }))
    return { ok: true }
  })
}

async function refused(database: Database, nodeId: string): Promise<NodeChange> {
  const node = (await overlookNodes(database)).find(({ id }) => id === nodeId)
  if (node === undefined) return { ok: false, refusal: 'unknown' }
  if (node.live) return { ok: false, refusal: 'live' }
  return { ok: false, refusal: node.instances > 0 ? 'has-instances' : 'has-volumes' }
}
