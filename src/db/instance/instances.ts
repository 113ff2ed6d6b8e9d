import type { Expression, ExpressionBuilder } from 'kysely'
import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import { inOrderOf, pageBounds, splitIdentifiers } from '../identifiers.ts'
import type { Identifier, ListPage } from '../identifiers.ts'
import { findQuotaExcess, liveDemand } from '../../domain/account/quotas.ts'
import type { QuotaExcess } from '../../domain/account/quotas.ts'
import { json } from '../postgres-client.ts'
import { isLimited, servicesWithin } from '../account/reach.ts'
import type { Reach } from '../account/reach.ts'
import type { Database } from '../database.ts'
import { findMemoryLackOn } from '../host/memory.ts'
import type { MemoryLack } from '../host/memory.ts'
import { isLive, quotasOf } from '../account/quotas.ts'
import { findLockedUser } from '../account/user-lock.ts'
import type { Db, Tables } from '../schema/tables.ts'
import { allOf, anyOf, wantedTexts, wantedUuids } from '../sql/lists.ts'
import { fromNow } from '../sql/time.ts'
import { markInstanceDeleted } from './deletion.ts'
import { scaleToZeroOf, selectRows } from './row.ts'
import type { InstanceRow } from './row.ts'

export interface InstanceFilter extends ListPage {
  /** Only instances that have all of these tags. */
  readonly tags?: readonly string[]
  /** Only instances in these states. Absent: in any state. */
  readonly states?: readonly InstanceState[]
  /**
   * Used with `states`. Each of these instances counts as being in the given state, whatever its row says.
   */
  readonly insteadOfRows?: ReadonlyMap<string, InstanceState>
}

/**
 * How long an admitted start keeps its place in the live quotas while the row still says stopped. That is
 * longer than any update of a workflow takes. It is short enough that the place is soon free if the API
 * process died after it reserved the place.
 */
const liveReservationMs = 30_000

/** The instances within reach, in the order of `identifiers`; undefined for each that is not within it. */
export async function findInstances(
  { db }: Database,
  reach: Reach,
  identifiers: readonly Identifier[],
): Promise<readonly (InstanceRow | undefined)[]> {
  const { uuids, names } = splitIdentifiers(identifiers)
  const found = await Promise.all([
    uuids.length === 0 ? [] : findByUuid(db, reach, uuids),
    names.length === 0 ? [] : findByName(db, reach, names),
  ])
  return inOrderOf(identifiers, found.flat())
}

// Each identifier is looked up in an index. Without the lateral part, the planner may read all instances of
// the user. The offset of 0 leaves out no row; it keeps the planner from merging the lateral part into the
// rest of the query.

async function findByUuid(db: Db, reach: Reach, uuids: readonly string[]) {
  const query = db
    .selectFrom(wantedUuids(uuids))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('instances')
          .selectAll()
          .whereRef('uuid', '=', 'wanted.value')
          .offset(eb.lit(0))
          .as('found'),
      (join) => join.onTrue(),
    )
    .where('found.userUuid', '=', reach.userUuid)
    .where('found.deletedAt', 'is', null)
    .$if(isLimited(reach), (found) => found.where('found.serviceUuid', 'in', servicesWithin(db, reach)))
  return selectRows(query).execute()
}

async function findByName(db: Db, reach: Reach, names: readonly string[]) {
  const query = db.selectFrom(wantedTexts(names)).innerJoinLateral(
    (eb) =>
      eb
        .selectFrom('instances')
        .selectAll()
        .where('userUuid', '=', reach.userUuid)
        .whereRef('name', '=', 'wanted.value')
        .where('deletedAt', 'is', null)
        .$if(isLimited(reach), (found) => found.where('serviceUuid', 'in', servicesWithin(db, reach)))
        .offset(eb.lit(0))
        .as('found'),
    (join) => join.onTrue(),
  )
  return selectRows(query).execute()
}

/** The instances within reach in the order of their creation. */
export async function listInstances(
  { db }: Database,
  reach: Reach,
  filter: InstanceFilter = {},
): Promise<readonly InstanceRow[]> {
  return selectRows(selectInstances(db, reach, filter)).execute()
}

/** What separates names in `listInstanceNames`. No name and no UUID has it. */
const betweenNames = ' '

/**
 * Like `listInstances`, but only UUIDs and names. They come as two texts in one row. For 10 000 instances the
 * driver needs 1 ms of the processor for these texts, and 7 ms for as many rows.
 */
export async function listInstanceNames(
  { db }: Database,
  reach: Reach,
  filter: InstanceFilter = {},
): Promise<readonly Pick<InstanceRow, 'uuid' | 'name'>[]> {
  const listed = selectInstances(db, reach, filter).select(['uuid', 'name', 'position'])
  const { uuids, names } = await db
    .selectFrom(listed.as('listed'))
    .select(({ fn, cast, ref, val }) => {
      const joined = (text: Expression<string>) =>
        fn.agg<string | null>('string_agg', [text, val(betweenNames)]).orderBy('listed.position')
      return [joined(cast<string>('listed.uuid', 'text')).as('uuids'), joined(ref('listed.name')).as('names')]
    })
    .executeTakeFirstOrThrow()
  // PostgreSQL joins no rows to null.
  if (uuids === null || names === null) return []
  const nameOf = names.split(betweenNames)
  return uuids.split(betweenNames).map((uuid, index) => ({ uuid, name: nameOf[index]! }))
}

/** The instances within reach in these states, with the columns that are needed to ask their hosts. */
export async function listPlacements(
  { db }: Database,
  reach: Reach,
  states: readonly InstanceState[],
): Promise<readonly Pick<InstanceRow, 'uuid' | 'nodeId' | 'state' | 'boot'>[]> {
  return selectInstances(db, reach, { states }).select(['uuid', 'nodeId', 'state', 'boot']).execute()
}

function selectInstances(db: Db, reach: Reach, filter: InstanceFilter) {
  const { states, tags, insteadOfRows = new Map<string, InstanceState>() } = filter
  const { side, position, direction } = pageBounds(filter)
  return db
    .selectFrom('instances')
    .where('userUuid', '=', reach.userUuid)
    .where('deletedAt', 'is', null)
    .where('position', side, position)
    .$if(isLimited(reach), (query) => query.where('serviceUuid', 'in', servicesWithin(db, reach)))
    .$if(states !== undefined, (query) => query.where(countsAs(states!, insteadOfRows)))
    .$if(tags !== undefined, (query) => query.where(hasAll(tags!)))
    .orderBy('position', direction)
    .limit(filter.count ?? null)
    .offset(filter.from ?? 0)
}

/** Whether an instance has all of these tags. */
function hasAll(tags: readonly string[]) {
  return (eb: ExpressionBuilder<Tables, 'instances'>) =>
    eb('tags', '@>', eb.cast<readonly string[]>(eb.val(json(tags)), 'jsonb'))
}

/** Whether an instance is in one of these states, by its row or by `insteadOfRows`. */
function countsAs(states: readonly InstanceState[], insteadOfRows: ReadonlyMap<string, InstanceState>) {
  const others = [...insteadOfRows]
  const wanted = others.flatMap(([uuid, state]) => (states.includes(state) ? [uuid] : []))
  return (eb: ExpressionBuilder<Tables, 'instances'>) => {
    const byRow = eb('state', '=', oneOf(states))
    if (others.length === 0) return byRow
    return eb.or([
      eb.and([byRow, eb('uuid', '<>', allOf(others.map(([uuid]) => uuid)))]),
      eb('uuid', '=', anyOf(wanted)),
    ])
  }
}

/**
 * For the right side of `=`. Most lists are of one state. PostgreSQL compares a row with one value in half
 * the time that a list of one value takes, and finds the rows of one state in an index in the order of the
 * list.
 */
function oneOf(states: readonly InstanceState[]) {
  const [state, ...others] = states
  return state !== undefined && others.length === 0 ? state : anyOf(states)
}

/** Instances of any user, in the order of `uuids`. Those that are gone or deleted are left out. */
export async function findByUuids(
  { db }: Database,
  uuids: readonly string[],
): Promise<readonly InstanceRow[]> {
  const living = db.selectFrom('instances').where('uuid', '=', anyOf(uuids)).where('deletedAt', 'is', null)
  const rows = await selectRows(living).execute()
  const byUuid = new Map(rows.map((row) => [row.uuid, row]))
  return uuids.flatMap((uuid) => byUuid.get(uuid) ?? [])
}

/**
 * Marks the user's instance deleted: readers do not see it any more, and its name and quota are free.
 * Returns the row as it was. Undefined if the user has no such instance, so of two deletes at once, only one
 * gets the row. The same transaction deletes the service if it is not persistent, marks the volume deleted
 * if it is not persistent (`findDeletedVolume` reads it), and marks the configuration of which the instance
 * is the master deleted with all clones (`findGoneWithMaster` reads them). The workflows of all of them have
 * the hosts remove what is there.
 */
export async function markDeleted(
  { db }: Database,
  userUuid: string,
  uuid: string,
  asker: Asker = thePlatform,
): Promise<InstanceRow | undefined> {
  const reason = { why: 'its deletion was asked for', asker }
  return db.transaction().execute((db) => markInstanceDeleted(db, { uuid, userUuid, reason }))
}

export type ReserveOutcome = { readonly ok: true } | { readonly ok: false; readonly refusal: StartRefusal }

export type StartRefusal =
  | { readonly kind: 'quota'; readonly excess: QuotaExcess }
  | { readonly kind: 'not-found' }
  /** The instance's host has too little memory. */
  | { readonly kind: 'no-memory'; readonly lack: MemoryLack }
  /** Autoscale is giving the instance back. */
  | { readonly kind: 'retired' }

/**
 * Admits a start under the lock of the user's row. Checks the live quotas, unless the instance is live and
 * so counts already. If the instance has no VM, checks the memory of its host. Then keeps a place in the
 * quotas for `liveReservationMs`; within that time the instance gets a state that is live by itself.
 */
export async function reserveLive({ db }: Database, userUuid: string, uuid: string): Promise<ReserveOutcome> {
  return db.transaction().execute(async (db): Promise<ReserveOutcome> => {
    const user = await findLockedUser(db, userUuid)
    const instance = await db
      .selectFrom('instances')
      .select(['memoryMb', 'vcpus', 'state', 'nodeId', 'retiredAt'])
      .select(['standbyPolicy', 'standbyCooldownMs', 'standbyStateful'])
      .select((eb) => isLive(eb).as('live'))
      .where('uuid', '=', uuid)
      .where('userUuid', '=', userUuid)
      .where('deletedAt', 'is', null)
      .executeTakeFirst()
    if (!user || !instance) return { ok: false, refusal: { kind: 'not-found' } }
    if (instance.retiredAt !== null) return { ok: false, refusal: { kind: 'retired' } }
    if (!instance.live) {
      const wanted = liveDemand({ ...instance, scaleToZero: scaleToZeroOf(instance) }, 1)
      const excess = findQuotaExcess(await quotasOf(db, user), wanted)
      if (excess) return { ok: false, refusal: { kind: 'quota', excess } }
    }
    if (instance.state === InstanceState.Stopped || instance.state === InstanceState.Standby) {
      const lack = await findMemoryLackOn(db, instance.nodeId, instance.memoryMb)
      if (lack) return { ok: false, refusal: { kind: 'no-memory', lack } }
    }
    await db
      .updateTable('instances')
      .set({ liveReservedUntil: fromNow(liveReservationMs) })
      .where('uuid', '=', uuid)
      .execute()
    return { ok: true }
  })
}

/** Gives the reserved place back after a start that was not made. */
export async function releaseLive({ db }: Database, uuid: string): Promise<void> {
  await db.updateTable('instances').set({ liveReservedUntil: null }).where('uuid', '=', uuid).execute()
}
