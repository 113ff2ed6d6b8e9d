import type { Expression, ExpressionBuilder, ExpressionWrapper } from 'kysely'
import { findDeletedExcess, findQuotaExcess } from '../../domain/account/quotas.ts'
import type { DeletedQuotas, QuotaAmounts, QuotaLimits, QuotaReport } from '../../domain/account/quotas.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import { ScaleToZeroPolicy } from '../../domain/standby/scale-to-zero.ts'
import type { Database } from '../database.ts'
import { Refused } from '../refused.ts'
import { columnsOf } from '../schema/columns.ts'
import type { Db, Row, Tables } from '../schema/tables.ts'
import { now } from '../sql/time.ts'
import { total } from '../sum.ts'
import { hardQuotasOf, quotaLimitsOf } from './users.ts'

/**
 * An instance is live unless it is stopped. A stopped instance is live, too, if it was asked to start or
 * waits for its next restart, so that no other start takes its place in the quotas. The quotas that are
 * shown and those that are enforced use this same condition.
 */
export function isLive(eb: ExpressionBuilder<Tables, 'instances'>) {
  return eb.or([
    eb('instances.state', '<>', InstanceState.Stopped),
    eb('instances.restartNextAt', 'is not', null),
    eb(eb.fn.coalesce('instances.liveReservedUntil', now), '>', now),
  ])
}

/**
 * Whether an instance is live and keeps its memory when it sleeps, by its scale-to-zero or because a user
 * sent it to standby. It may need room for its snapshot at any moment.
 */
function keepsMemory(eb: ExpressionBuilder<Tables, 'instances'>) {
  const byScaleToZero = eb.and([
    eb('instances.standbyPolicy', '<>', ScaleToZeroPolicy.Off),
    eb('instances.standbyStateful', '=', true),
  ])
  return eb.and([isLive(eb), eb.or([byScaleToZero, eb('instances.suspended', '=', true)])])
}

/** What an instance may have by now: the present configuration's, or what an older boot still has. */
function withHeld(
  eb: ExpressionBuilder<Tables, 'instances'>,
  asked: 'memoryMb' | 'vcpus',
  held: 'heldMemoryMb' | 'heldVcpus',
): Expression<number> {
  return eb.fn<number>('greatest', [asked, held])
}

const bytesPerMb = 1_048_576

/**
 * The objects that count: `is` for those that are not deleted (`deletedAt` is null), `is not` for those that
 * are deleted and that their host has not removed yet.
 */
type Deleted = 'is' | 'is not'

/** The UUID of a user: a value, or a column of the query around. */
export type UserRef = string | Expression<string>

export function heldByInstances(db: Db, userUuid: UserRef, deleted: Deleted) {
  return db
    .selectFrom('instances')
    .where('userUuid', '=', userUuid)
    .where('deletedAt', deleted, null)
    .select((eb) => {
      const live = isLive(eb)
      return [
        eb.fn.countAll<number>().as('instances'),
        eb.fn.countAll<number>().filterWhere(live).as('liveInstances'),
        total(eb, withHeld(eb, 'vcpus', 'heldVcpus'), { where: live }).as('liveVcpus'),
        total(eb, withHeld(eb, 'memoryMb', 'heldMemoryMb'), { where: live }).as('liveMemoryMb'),
        total(eb, 'memoryMb', { where: keepsMemory(eb) }).as('snapshotMb'),
      ]
    })
}

export function heldByVolumes(db: Db, userUuid: UserRef, deleted: Deleted) {
  return db
    .selectFrom('volumes')
    .where('userUuid', '=', userUuid)
    .where('deletedAt', deleted, null)
    .select((eb) => [eb.fn.countAll<number>().as('volumes'), total(eb, 'sizeMb').as('totalVolumeMb')])
}

export function publishedBy(db: Db, userUuid: UserRef) {
  return db
    .selectFrom('services')
    .where('userUuid', '=', userUuid)
    .select((eb) => [
      eb.fn.countAll<number>().as('serviceGroups'),
      total(eb, eb.fn<number>('jsonb_array_length', ['ports'])).as('services'),
    ])
}

export function pushedBy(db: Db, userUuid: UserRef) {
  return db
    .selectFrom('users as pushing')
    .where('pushing.uuid', '=', userUuid)
    .select((eb) => megabytes(eb, eb.ref('pushing.registryBytes')).as('registryMb'))
}

/**
 * What the user's images take unpacked. Their quota bounds each host by itself, so the host where they take
 * most counts.
 */
export function unpackedFor(db: Db, userUuid: UserRef) {
  return db.selectFrom('nodes').select((eb) => {
    const key = eb.cast<string>(eb.val(userUuid), 'text')
    const bytes = eb.fn('jsonb_extract_path_text', ['imageBytes', key])
    return eb.fn.coalesce(eb.fn.max(megabytes(eb, bytes)), eb.lit(0)).as('imageMb')
  })
}

/**
 * The quotas of a user with what a change is measured against. `deleted` are the instances and volumes that
 * are deleted but not yet removed from their host. Until then they hold an address and room on a disk, and
 * the host has work to do. They do not count as used, but `refuseExcess` counts them against twice the
 * quotas.
 */
export interface HeldQuotas extends QuotaReport {
  readonly deleted: DeletedQuotas
}

/** What an account uses of its quotas, and what it has deleted. */
async function readHeld(db: Db, userUuid: string): Promise<Pick<HeldQuotas, 'used' | 'deleted'>> {
  const {
    deleted,
    liveDeleted,
    deletedVcpus,
    deletedMemoryMb,
    deletedSnapshotMb,
    emptied,
    emptiedMb,
    ...used
  } = await db
    .selectFrom([
      heldByInstances(db, userUuid, 'is').as('held'),
      publishedBy(db, userUuid).as('published'),
      heldByVolumes(db, userUuid, 'is').as('kept'),
      pushedBy(db, userUuid).as('pushed'),
      unpackedFor(db, userUuid).as('unpacked'),
      heldByInstances(db, userUuid, 'is not').as('gone'),
      heldByVolumes(db, userUuid, 'is not').as('goneVolumes'),
    ])
    .selectAll(['held', 'published', 'kept', 'pushed', 'unpacked'])
    .select(['gone.instances as deleted', 'gone.liveInstances as liveDeleted'])
    .select(['gone.liveVcpus as deletedVcpus', 'gone.liveMemoryMb as deletedMemoryMb'])
    .select(['gone.snapshotMb as deletedSnapshotMb'])
    .select(['goneVolumes.volumes as emptied', 'goneVolumes.totalVolumeMb as emptiedMb'])
    .executeTakeFirstOrThrow()
  return {
    used,
    deleted: {
      instances: deleted,
      liveInstances: liveDeleted,
      liveVcpus: deletedVcpus,
      liveMemoryMb: deletedMemoryMb,
      snapshotMb: deletedSnapshotMb,
      volumes: emptied,
      totalVolumeMb: emptiedMb,
    },
  }
}

/** Bytes in MiB, rounded up. */
function megabytes<All, Table extends keyof All>(
  eb: ExpressionBuilder<All, Table>,
  bytes: Expression<unknown>,
): ExpressionWrapper<All, Table, number> {
  const exact = eb(eb.cast<number>(bytes, 'numeric'), '/', bytesPerMb)
  return eb.cast<number>(eb.fn('ceil', [exact]), 'integer')
}

/** The quotas of a user. Undefined if there is no such user. */
export async function readQuotas({ db }: Database, userUuid: string): Promise<QuotaReport | undefined> {
  const user = await db
    .selectFrom('users')
    .select(columnsOf('users'))
    .where('uuid', '=', userUuid)
    .executeTakeFirst()
  return user && quotasOf(db, user)
}

/** The bounds of a single object of a user. Undefined if there is no such user. */
export async function readLimits({ db }: Database, userUuid: string): Promise<QuotaLimits | undefined> {
  const user = await db
    .selectFrom('users')
    .select(columnsOf('users'))
    .where('uuid', '=', userUuid)
    .executeTakeFirst()
  return user && quotaLimitsOf(user)
}

/** The quotas of a user whose row was read. A transaction that enforces them has locked that row. */
export async function quotasOf(db: Db, user: Row<'users'>): Promise<HeldQuotas> {
  const held = await readHeld(db, user.uuid)
  return { userUuid: user.uuid, ...held, hard: hardQuotasOf(user), limits: quotaLimitsOf(user) }
}

/**
 * Throws `Refused` if `added` would pass a quota. Throws too if the account's objects, including the deleted
 * ones that hosts have not removed yet, would pass twice a quota. The caller's transaction has locked the
 * user's row.
 */
export function refuseExcess(quotas: HeldQuotas, added: Partial<QuotaAmounts>): void {
  const excess = findQuotaExcess(quotas, added)
  if (excess) throw new Refused({ kind: 'quota', excess })
  const tooMuch = findDeletedExcess(quotas, quotas.deleted, added)
  if (tooMuch) throw new Refused({ kind: 'deleted-excess', excess: tooMuch })
}
