import { Refused } from '../refused.ts'
import { lockUser } from '../account/user-lock.ts'
import { instanceColumns } from '../instance/row.ts'
import type { InstanceRow } from '../instance/row.ts'
import type { Db, Row } from '../schema/tables.ts'
import { rolloutColumns } from './row.ts'
import type { RolloutRow } from './row.ts'

/** A service with what a change of its rollout needs. All rows are locked until the commit. */
export interface LockedService {
  readonly user: Row<'users'>
  readonly service: LockedRow
  /** The instance from which autoscale makes clones. Absent: the service is not scaled. */
  readonly masterUuid?: string
}

type LockedRow = Readonly<
  Pick<
    Row<'services'>,
    'uuid' | 'name' | 'userUuid' | 'persistent' | 'ports' | 'rolloutUuid' | 'rolloutPercent' | 'rolloutHeld'
  >
>

/**
 * Locks a service of the user in the order of `insertInstances`: the user, the service, its autoscale
 * configuration. Throws `Refused`.
 */
export async function lockService(db: Db, userUuid: string, serviceUuid: string): Promise<LockedService> {
  const user = await lockUser(db, userUuid)
  const service = await db
    .selectFrom('services')
    .select([
      'uuid',
      'name',
      'userUuid',
      'persistent',
      'ports',
      'rolloutUuid',
      'rolloutPercent',
      'rolloutHeld',
    ])
    .where('uuid', '=', serviceUuid)
    .where('userUuid', '=', userUuid)
    .forUpdate()
    .executeTakeFirst()
  if (service === undefined) throw new Refused({ kind: 'service-not-found', by: 'uuid', value: serviceUuid })
  const configuration = await db
    .selectFrom('autoscaleConfigurations')
    .select('masterUuid')
    .where('serviceUuid', '=', serviceUuid)
    .where('deletedAt', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  const masterUuid = configuration?.masterUuid ?? undefined
  return { user, service, ...(masterUuid !== undefined && { masterUuid }) }
}

export async function readRollout(db: Db, uuid: string): Promise<RolloutRow | undefined> {
  return db.selectFrom('rollouts').select(rolloutColumns).where('uuid', '=', uuid).executeTakeFirst()
}

/** Both versions of a service, without what is deleted or given back. */
export interface Versions {
  /** The instances that serve without a rollout, autoscale's clones included. */
  readonly present: readonly InstanceRow[]
  /** Those that the rollout brings in, autoscale's clones included. */
  readonly next: readonly InstanceRow[]
  /** Those that the rollout keeps as the way back. */
  readonly kept: readonly InstanceRow[]
}

export async function readVersions(
  db: Db,
  serviceUuid: string,
  rolloutUuid: string | undefined,
): Promise<Versions> {
  const rows = await db
    .selectFrom('instances')
    .select(instanceColumns)
    .where((eb) => {
      const ofService = eb('serviceUuid', '=', serviceUuid)
      return rolloutUuid === undefined ? ofService : eb.or([ofService, eb('rolloutUuid', '=', rolloutUuid)])
    })
    .where('deletedAt', 'is', null)
    .where('retiredAt', 'is', null)
    .orderBy('position')
    .execute()
  return {
    present: rows.filter((row) => row.serviceUuid !== null && row.rolloutUuid === null),
    next: rows.filter((row) => row.serviceUuid !== null && row.rolloutUuid !== null),
    kept: rows.filter((row) => row.serviceUuid === null),
  }
}
