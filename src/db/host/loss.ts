import { theOperator } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { lostNews, removedNews } from '../../domain/host/news.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import type { TellCursor } from '../../domain/host/loss.ts'
import type { ExpressionBuilder } from 'kysely'
import type { Database } from '../database.ts'
import { instanceColumns } from '../instance/row.ts'
import type { InstanceRow } from '../instance/row.ts'
import type { Db, Row, Tables } from '../schema/tables.ts'
import { now } from '../sql/time.ts'
import { tellOfHost } from './events.ts'

/** What is watched of a host. */
export type HostTerm = Pick<Row<'nodes'>, (typeof termColumns)[number]>

const termColumns = ['id', 'heartbeatAt', 'termMs', 'lostAt', 'loss', 'drainingAt'] as const

/** All hosts. It is read every second, so it is little. */
export async function readTerms({ db }: Database): Promise<readonly HostTerm[]> {
  return db.selectFrom('nodes').select(termColumns).execute()
}

/** A host and what is on it. */
export interface HostOnLoss extends HostTerm {
  readonly removedAt: Date | null
  /** Instances without a volume, with one, and those that are being deleted. */
  readonly moving: number
  readonly staying: number
  readonly leaving: number
  readonly volumes: number
  readonly leavingVolumes: number
}

/** Undefined if there is no such host. */
export async function readHostOnLoss({ db }: Database, hostId: string): Promise<HostOnLoss | undefined> {
  return selectOnLoss(db, hostId)
}

async function selectOnLoss(db: Db, hostId: string): Promise<HostOnLoss | undefined> {
  return db
    .selectFrom('nodes')
    .select([...termColumns, 'removedAt'])
    .select((eb) => [
      instancesOn(eb, 'moving').as('moving'),
      instancesOn(eb, 'staying').as('staying'),
      instancesOn(eb, 'leaving').as('leaving'),
      volumesOn(eb, 'all').as('volumes'),
      volumesOn(eb, 'leaving').as('leavingVolumes'),
    ])
    .where('id', '=', hostId)
    .executeTakeFirst()
}

function instancesOn(eb: ExpressionBuilder<Tables, 'nodes'>, which: 'moving' | 'staying' | 'leaving') {
  return eb
    .selectFrom('instances')
    .whereRef('instances.nodeId', '=', 'nodes.id')
    .where('instances.deletedAt', which === 'leaving' ? 'is not' : 'is', null)
    .$if(which === 'moving', (query) => query.where('instances.volumeUuid', 'is', null))
    .$if(which === 'staying', (query) => query.where('instances.volumeUuid', 'is not', null))
    .select((of) => of.fn.countAll<number>().as('count'))
    .$asScalar()
    .$notNull()
}

function volumesOn(eb: ExpressionBuilder<Tables, 'nodes'>, which: 'all' | 'leaving') {
  return eb
    .selectFrom('volumes')
    .whereRef('volumes.nodeId', '=', 'nodes.id')
    .$if(which === 'leaving', (query) => query.where('volumes.deletedAt', 'is not', null))
    .select((of) => of.fn.countAll<number>().as('count'))
    .$asScalar()
    .$notNull()
}

/**
 * Declares the host lost if nobody heard it since it was seen so, and nobody else declared it, and tells
 * administrators. Returns whether it did. The lock of the row orders this with heartbeats: one that waited
 * for it is answered with the new number, so it renews no term.
 */
export async function declareLost(
  { db }: Database,
  hostId: string,
  seen: Pick<HostTerm, 'heartbeatAt' | 'termMs'>,
): Promise<boolean> {
  return await db.transaction().execute(async (db) => {
    const declared = await db
      .updateTable('nodes')
      .set((eb) => ({ loss: eb('loss', '+', 1), lostAt: now }))
      .where('id', '=', hostId)
      .where('heartbeatAt', '=', seen.heartbeatAt)
      .where('termMs', 'is not distinct from', seen.termMs)
      .where('lostAt', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (declared === undefined) return false
    await tellOfHost(db, hostId, lostNews)
    return true
  })
}

/** Whether the host has not cleared up since this loss. */
export async function isStillLost(
  { db }: Database,
  { id, loss }: Pick<HostTerm, 'id' | 'loss'>,
): Promise<boolean> {
  const found = await db
    .selectFrom('nodes')
    .select('id')
    .where('id', '=', id)
    .where('loss', '=', loss)
    .where('lostAt', 'is not', null)
    .executeTakeFirst()
  return found !== undefined
}

/**
 * Removes a host that never comes back: it is lost at once, nothing accepts its certificate any more, and no
 * heartbeat is answered. Its row stays for what is on it. Returns the host as it is then; undefined if there
 * is none. Idempotent: what was declared before stays so.
 */
export async function removeAsLost(
  { db }: Database,
  hostId: string,
  asker: Asker = theOperator,
): Promise<HostOnLoss | undefined> {
  return await db.transaction().execute(async (db) => {
    // In this order, as a removal of a host without instances.
    await db.selectFrom('joinedHosts').select('hostId').where('hostId', '=', hostId).forUpdate().execute()
    const node = db.selectFrom('nodes').select('lostAt').where('id', '=', hostId)
    const before = await node.forNoKeyUpdate().executeTakeFirst()
    await db
      .updateTable('nodes')
      .set((eb) => ({
        loss: eb
          .case()
          .when('lostAt', 'is', null)
          .then(eb('loss', '+', 1))
          .else(eb.ref('loss'))
          .end(),
        lostAt: eb.fn.coalesce('lostAt', now),
        removedAt: eb.fn.coalesce('removedAt', now),
        // The others forget it in the mesh with their next heartbeats.
        meshKey: null,
        meshEndpoint: null,
      }))
      .where('id', '=', hostId)
      .execute()
    await db.deleteFrom('joinedHosts').where('hostId', '=', hostId).execute()
    await db.deleteFrom('hostInvitations').where('hostId', '=', hostId).execute()
    if (before?.lostAt === null) await tellOfHost(db, hostId, removedNews(asker))
    return await selectOnLoss(db, hostId)
  })
}

/** Whether an administrator removed this host as lost, and something is still on it. */
export async function isRemovedAsLost({ db }: Database, hostId: string): Promise<boolean> {
  const found = db.selectFrom('nodes').select('id').where('id', '=', hostId)
  return (await found.where('removedAt', 'is not', null).executeTakeFirst()) !== undefined
}

/** Forgets a host that was removed as lost, if nothing is on it. Returns whether it is forgotten. */
export async function forgetRemoved({ db }: Database, hostId: string): Promise<boolean> {
  const forgotten = await db
    .deleteFrom('nodes')
    .where('id', '=', hostId)
    .where('removedAt', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('instances').select('uuid').where('nodeId', '=', hostId))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('volumes').select('uuid').where('nodeId', '=', hostId))),
    )
    .returning('id')
    .executeTakeFirst()
  return forgotten !== undefined
}

/** What is being deleted on a host, some of it. */
export async function leavingOn(
  { db }: Database,
  hostId: string,
  limit: number,
): Promise<{ readonly instances: readonly string[]; readonly volumes: readonly string[] }> {
  const left = async (table: 'instances' | 'volumes') => {
    const found = db.selectFrom(table).select('uuid').where('nodeId', '=', hostId)
    const rows = await found.where('deletedAt', 'is not', null).orderBy('uuid').limit(limit).execute()
    return rows.map(({ uuid }) => uuid)
  }
  return { instances: await left('instances'), volumes: await left('volumes') }
}

export interface ToldRow {
  readonly row: InstanceRow
  readonly cursor: TellCursor
}

/**
 * The next instances on a lost host that are told: first those that ran, then those that sleep, then those
 * that are stopped, then those that are being deleted.
 */
export async function instancesToTell(
  { db }: Database,
  hostId: string,
  {
    isOfAll,
    after,
    limit,
  }: { readonly isOfAll: boolean; readonly after?: TellCursor | undefined; readonly limit: number },
): Promise<readonly ToldRow[]> {
  const rows = await db
    .selectFrom('instances')
    .select(instanceColumns)
    .select((eb) => tellRank(eb).as('rank'))
    .where('nodeId', '=', hostId)
    .$if(!isOfAll, (query) => query.where('volumeUuid', 'is', null).where('deletedAt', 'is', null))
    .$if(after !== undefined, (query) =>
      query.where((eb) =>
        eb.or([
          eb(tellRank(eb), '>', after!.rank),
          eb.and([eb(tellRank(eb), '=', after!.rank), eb('uuid', '>', after!.uuid)]),
        ]),
      ),
    )
    .orderBy('rank')
    .orderBy('uuid')
    .limit(limit)
    .execute()
  return rows.map(({ rank, ...row }) => ({ row, cursor: { rank, uuid: row.uuid } }))
}

function tellRank(eb: ExpressionBuilder<Tables, 'instances'>) {
  return eb
    .case()
    .when('deletedAt', 'is not', null)
    .then(eb.lit(3))
    .when('state', '=', InstanceState.Stopped)
    .then(eb.lit(2))
    .when('state', '=', InstanceState.Standby)
    .then(eb.lit(1))
    .else(eb.lit(0))
    .end()
    .$castTo<number>()
}
