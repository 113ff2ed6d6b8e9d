import { findQuotaExcess } from '../../domain/account/quotas.ts'
import type { QuotaExcess } from '../../domain/account/quotas.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import { mayStandBy } from '../../domain/standby/scale-to-zero.ts'
import { quotasOf } from '../account/quotas.ts'
import { findLockedUser } from '../account/user-lock.ts'
import type { Database } from '../database.ts'
import { scaleToZeroOf } from './row.ts'

const up: readonly InstanceState[] = [InstanceState.Starting, InstanceState.Running]

/**
 * Counts the memory of an instance that a user sends to standby to the snapshots of its account. Returns the
 * quota that would be exceeded; then nothing is reserved. An instance whose memory counts already, or that
 * does not run, needs nothing. The instance's workflow goes on with the reservation when it writes the row.
 */
export async function reserveSnapshot(
  { db }: Database,
  userUuid: string,
  uuid: string,
): Promise<QuotaExcess | undefined> {
  return db.transaction().execute(async (db) => {
    const user = await findLockedUser(db, userUuid)
    const instance = await db
      .selectFrom('instances')
      .select(['memoryMb', 'state', 'suspended'])
      .select(['standbyPolicy', 'standbyCooldownMs', 'standbyStateful'])
      .where('uuid', '=', uuid)
      .executeTakeFirst()
    if (!user || !instance || instance.suspended || !up.includes(instance.state)) return undefined
    const isCounted = mayStandBy(scaleToZeroOf(instance)) && instance.standbyStateful
    if (!isCounted) {
      const excess = findQuotaExcess(await quotasOf(db, user), { snapshotMb: instance.memoryMb })
      if (excess) return excess
    }
    await db.updateTable('instances').set({ suspended: true }).where('uuid', '=', uuid).execute()
    return undefined
  })
}

/** Gives the room back after a suspend that does not come. One that came keeps it. */
export async function releaseSnapshot({ db }: Database, uuid: string): Promise<void> {
  await db
    .updateTable('instances')
    .set({ suspended: false })
    .where('uuid', '=', uuid)
    .where('state', '<>', InstanceState.Standby)
    .execute()
}
