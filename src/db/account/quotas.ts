import type { Expression, ExpressionBuilder, ExpressionWrapper } from 'kysely'
import { findDeletedExcess, findQuotaExcess } from '../../domain/account/quotas.ts'
import type { QuotaAmounts, QuotaReport } from '../../domain/account/quotas.ts'
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
 * An instance is live unless it is stopped; one that was asked to start, or that waits for its next restart,
 * keeps the place it is going to take. The same condition decides what is shown and what is enforced.
 */
export function isLive(eb: ExpressionBuilder<Tables, 'instances'>) {
  return eb.or([
    eb('instances.state', '<>', InstanceState.Stopped),
    eb('instances.restartNextAt', 'is not', null),
    eb(eb.fn.coalesce('instances.liveReservedUntil', now), '>', now),
  ])
}

/** A live instance that keeps its memory in standby may need the room for it at any moment. */
function keepsMemory(eb: ExpressionBuilder<Tables, 'instances'>) {
  return eb.and([
    isLive(eb),
    eb('instances.standbyPolicy', '<>', ScaleToZeroPolicy.Off),
    eb('instances.standbyStateful', '=', true),
  ])
}

const bytesPerMb = 1_048_576

/** Whether the objects that count are deleted, and only wait for their host, or not. */
type Deleted = 'is' | 'is not'

function heldByInstances(db: Db, userUuid: string, deleted: Deleted) {
  return db
    .selectFrom('instances')
    .where('userUuid', '=', userUuid)
    .where('deletedAt', deleted, null)
    .select((eb) => {
      const live = isLive(eb)
      return [
        eb.fn.countAll<number>().as('instances'),
        eb.fn.countAll<number>().filterWhere(live).as('liveInstances'),
        total(eb, 'vcpus', { where: live }).as('liveVcpus'),
        total(eb, 'memoryMb', { where: live }).as('liveMemoryMb'),
        total(eb, 'memoryMb', { where: keepsMemory(eb) }).as('snapshotMb'),
      ]
    })
}

function heldByVolumes(db: Db, userUuid: string, deleted: Deleted) {
  return db
    .selectFrom('volumes')
    .where('userUuid', '=', userUuid)
    .where('deletedAt', deleted, null)
    .select((eb) => [eb.fn.countAll<number>().as('volumes'), total(eb, 'sizeMb').as('totalVolumeMb')])
}

/** Deleted instances and volumes give their quota back at once; but see `readDeleted`. */
async function readUsed(db: Db, userUuid: string): Promise<QuotaAmounts> {
  const published = db
    .selectFrom('services')
    .where('userUuid', '=', userUuid)
    .select((eb) => [
      eb.fn.countAll<number>().as('serviceGroups'),
      total(eb, eb.fn<number>('jsonb_array_length', ['ports'])).as('services'),
    ])
  const pushed = db
    .selectFrom('users')
    .where('uuid', '=', userUuid)
    .select((eb) => megabytes(eb, eb.ref('registryBytes')).as('registryMb'))
  // Each host counts for itself, so the host with most decides.
  const unpacked = db
    .selectFrom('nodes')
    .select((eb) =>
      eb.fn
        .coalesce(
          eb.fn.max(megabytes(eb, eb.fn('jsonb_extract_path_text', ['imageBytes', eb.val(userUuid)]))),
          eb.lit(0),
        )
        .as('imageMb'),
    )
  return db
    .selectFrom([
      heldByInstances(db, userUuid, 'is').as('held'),
      published.as('published'),
      heldByVolumes(db, userUuid, 'is').as('kept'),
      pushed.as('pushed'),
      unpacked.as('unpacked'),
    ])
    .selectAll()
    .executeTakeFirstOrThrow()
}

/**
 * What is deleted and not yet gone from its host: until then it holds an address, a place on a disk and work
 * to be done.
 */
async function readDeleted(db: Db, userUuid: string) {
  return db
    .selectFrom([
      heldByInstances(db, userUuid, 'is not').as('deleted'),
      heldByVolumes(db, userUuid, 'is not').as('emptied'),
    ])
    .selectAll()
    .executeTakeFirstOrThrow()
}

/** Rounded up. */
function megabytes<Table extends keyof Tables>(
  eb: ExpressionBuilder<Tables, Table>,
  bytes: Expression<unknown>,
): ExpressionWrapper<Tables, Table, number> {
  const exact = eb(eb.cast<number>(bytes, 'numeric'), '/', bytesPerMb)
  return eb.cast<number>(eb.fn('ceil', [exact]), 'integer')
}

/** Undefined where there is no such user. */
export async function readQuotas({ db }: Database, userUuid: string): Promise<QuotaReport | undefined> {
  const user = await db
    .selectFrom('users')
    .select(columnsOf('users'))
    .where('uuid', '=', userUuid)
    .executeTakeFirst()
  return user && quotasOf(db, user)
}

/** In a transaction that enforces them, the user's row is locked. */
export async function quotasOf(db: Db, user: Row<'users'>): Promise<QuotaReport> {
  const used = await readUsed(db, user.uuid)
  return { userUuid: user.uuid, used, hard: hardQuotasOf(user), limits: quotaLimitsOf(user) }
}

/**
 * Throws where `added` would pass a quota, or what the account has and what it deleted would pass the double
 * of one before hosts are done with it. In a transaction that has the user's row locked.
 */
export async function refuseExcess(db: Db, quotas: QuotaReport, added: Partial<QuotaAmounts>): Promise<void> {
  const excess = findQuotaExcess(quotas, added)
  if (excess) throw new Refused({ kind: 'quota', excess })
  const tooMuch = findDeletedExcess(quotas, await readDeleted(db, quotas.userUuid), added)
  if (tooMuch) throw new Refused({ kind: 'deleted-excess', excess: tooMuch })
}
