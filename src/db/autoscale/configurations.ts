import { jsonBuildObject } from 'kysely/helpers/postgres'
import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { defaultAutoscale } from '../../domain/autoscale/policy.ts'
import type { AutoscaleConfiguration, AutoscalePolicy } from '../../domain/autoscale/policy.ts'
import { closedReport } from '../../domain/autoscale/report.ts'
import type { AutoscaleSettings } from '../../domain/autoscale/settings.ts'
import { findAutoscaleBreach, isAutoscaleDisabled } from '../../domain/account/quotas.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { retiredEvents } from './retired-events.ts'
import { keepDecision } from './decisions.ts'
import type { Database } from '../database.ts'
import { columnOf } from '../identifiers.ts'
import type { Identifier } from '../identifiers.ts'
import { json } from '../postgres-client.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { Db, Row } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { now } from '../sql/time.ts'
import { isLimited, servicesWithin } from '../account/reach.ts'
import type { Reach } from '../account/reach.ts'
import { lockUser } from '../account/user-lock.ts'
import { quotaLimitsOf } from '../account/users.ts'

/** A configuration that a user asks for. */
export interface NewAutoscale extends Reach {
  readonly serviceUuid: string
  /** An instance that is not within reach is none that could be the master. */
  readonly master: Identifier
  /** The sizes. Absent: the default, or the nearest size to it that the limits of the account allow. */
  readonly minSize?: number
  readonly maxSize?: number
  readonly warmupMs: number
  readonly cooldownMs: number
  /** Policies with different names, and not more than a service may have. */
  readonly policies: readonly AutoscalePolicy[]
  readonly asker?: Asker
}

/** How a service is scaled, as readers get it. */
export interface AutoscaleRow extends AutoscaleConfiguration {
  readonly serviceUuid: string
  readonly master: { readonly uuid: string; readonly name: string }
}

export type ChangeAutoscaleOutcome =
  | { readonly ok: true; readonly settings: AutoscaleSettings }
  | { readonly ok: false; readonly refusal: WriteRefusal }

/**
 * Configures a service that has no configuration, and makes the service persistent. If an earlier
 * configuration is deleted but not closed yet, its row is taken over. All happens under the lock of the
 * user's row: of two calls at once one is refused, and meanwhile the master can neither be deleted nor get a
 * volume. The master is locked before the row of the configuration, which is not the usual order of locks;
 * `insertInstances` says why that does no harm.
 */
export async function insertAutoscale(
  database: Database,
  wanted: NewAutoscale,
): Promise<ChangeAutoscaleOutcome> {
  return changed(() =>
    database.db.transaction().execute(async (db) => {
      const user = await lockUser(db, wanted.userUuid)
      const service = await lockService(db, wanted)
      const sizes = admittedSizes(user, wanted)
      await refuseConfigured(db, service)
      const masterUuid = await lockMaster(db, wanted, service)
      const { warmupMs, cooldownMs, policies } = wanted
      await writeConfiguration(db, {
        serviceUuid: service.uuid,
        userUuid: user.uuid,
        masterUuid,
        minSize: sizes.min,
        maxSize: sizes.max,
        warmupMs,
        cooldownMs,
        policies,
      })
      await db
        .updateTable('services')
        .set({ persistent: true })
        .where('uuid', '=', service.uuid)
        .where('persistent', '=', false)
        .execute()
      const why = `it was configured: ${sizes.min} to ${sizes.max} instances, ${policies.length} policies`
      const { asker = thePlatform } = wanted
      const kind = UserEventKind.AutoscaleCreated
      await writeEvents(db, [{ ...eventObject({ ...service, userUuid: user.uuid }), kind, why, asker }])
      return settingsOf(user.uuid, service)
    }),
  )
}

type WrittenConfiguration = Omit<
  Row<'autoscaleConfigurations'>,
  'createdAt' | 'deletedAt' | 'workflowStartedAt' | 'target'
>

/**
 * Inserts a configuration, or overwrites a deleted one whose row is still there: only its service and its
 * user stay.
 */
async function writeConfiguration(db: Db, { policies, ...columns }: WrittenConfiguration): Promise<void> {
  await db
    .insertInto('autoscaleConfigurations')
    .values({ ...columns, policies: json(policies) })
    .onConflict((oc) =>
      oc.column('serviceUuid').doUpdateSet((eb) => ({
        createdAt: now,
        deletedAt: null,
        workflowStartedAt: null,
        target: null,
        masterUuid: eb.ref('excluded.masterUuid'),
        minSize: eb.ref('excluded.minSize'),
        maxSize: eb.ref('excluded.maxSize'),
        warmupMs: eb.ref('excluded.warmupMs'),
        cooldownMs: eb.ref('excluded.cooldownMs'),
        policies: eb.ref('excluded.policies'),
      })),
    )
    .execute()
}

/**
 * The configurations of these services of the user, by the service's UUID. Services without a configuration
 * are left out.
 */
export async function findAutoscale(
  { db }: Database,
  userUuid: string,
  serviceUuids: readonly string[],
): Promise<ReadonlyMap<string, AutoscaleRow>> {
  const rows = await db
    .selectFrom('autoscaleConfigurations as configured')
    .innerJoin('instances as master', 'master.uuid', 'configured.masterUuid')
    .where('configured.serviceUuid', '=', anyOf(serviceUuids))
    .where('configured.userUuid', '=', userUuid)
    .where('configured.deletedAt', 'is', null)
    .select((eb) => [
      'configured.serviceUuid',
      'configured.minSize',
      'configured.maxSize',
      'configured.warmupMs',
      'configured.cooldownMs',
      'configured.policies',
      jsonBuildObject({ uuid: eb.ref('master.uuid'), name: eb.ref('master.name') }).as('master'),
    ])
    .execute()
  return new Map(rows.map((row) => [row.serviceUuid, row]))
}

/**
 * Marks the configuration deleted, which hides it from readers, and gives back all clones in the same
 * transaction; they may drain for the cooldown. The workflow of the configuration does the rest of the
 * closing and removes the row.
 */
export async function deleteAutoscale(
  database: Database,
  userUuid: string,
  serviceUuid: string,
  asker: Asker = thePlatform,
): Promise<ChangeAutoscaleOutcome> {
  return changed(() =>
    database.db.transaction().execute(async (db) => {
      await lockUser(db, userUuid)
      const service = await lockService(db, { userUuid, serviceUuid })
      const deleted = await db
        .updateTable('autoscaleConfigurations')
        .set({ deletedAt: now })
        .where('serviceUuid', '=', service.uuid)
        .where('deletedAt', 'is', null)
        .returning('cooldownMs')
        .executeTakeFirst()
      if (deleted === undefined)
        throw new Refused({ kind: 'autoscale-not-configured', service: service.name })
      const givenBack = await db
        .with('given', (db) =>
          db
            .updateTable('instances')
            .set({ retiredAt: now, retireDrainMs: deleted.cooldownMs })
            .where('serviceUuid', '=', service.uuid)
            .where('cloneOf', 'is not', null)
            .where('retiredAt', 'is', null)
            .where('deletedAt', 'is', null)
            .returning(['uuid', 'name', 'position']),
        )
        .selectFrom('given')
        .select(['uuid', 'name'])
        .orderBy('position')
        .execute()
      // The decision is kept here and not by the workflow that closes: by then a sweep may have deleted some
      // of the clones. The master stays.
      const names = givenBack.map(({ name }) => name)
      const owned = { ...service, userUuid }
      await writeEvents(db, [
        {
          ...eventObject(owned),
          kind: UserEventKind.AutoscaleDeleted,
          why: 'its deletion was asked for',
          asker,
        },
        ...retiredEvents(userUuid, givenBack),
      ])
      await keepDecision(db, owned, closedReport({ after: 1, givenBack: names }))
      return settingsOf(userUuid, service)
    }),
  )
}

type LockedService = Pick<Row<'services'>, 'uuid' | 'name'>

async function lockService(
  db: Db,
  { userUuid, serviceUuid }: Pick<NewAutoscale, 'userUuid' | 'serviceUuid'>,
): Promise<LockedService> {
  const service = await db
    .selectFrom('services')
    .select(['uuid', 'name'])
    .where('uuid', '=', serviceUuid)
    .where('userUuid', '=', userUuid)
    .forUpdate()
    .executeTakeFirst()
  if (service === undefined) throw new Refused({ kind: 'service-not-found', by: 'uuid', value: serviceUuid })
  return service
}

async function refuseConfigured(db: Db, { uuid, name }: LockedService): Promise<void> {
  const configured = await db
    .selectFrom('autoscaleConfigurations as configured')
    .leftJoin('instances as master', 'master.uuid', 'configured.masterUuid')
    .select('master.name as master')
    .where('configured.serviceUuid', '=', uuid)
    .where('configured.deletedAt', 'is', null)
    .executeTakeFirst()
  if (configured === undefined) return
  throw new Refused({ kind: 'autoscale-configured', service: name, master: configured.master ?? '' })
}

/**
 * Locks the instance that is to be the master and returns its UUID. Throws `Refused` if it can not be
 * cloned.
 */
async function lockMaster(
  db: Db,
  { master, ...reach }: Pick<NewAutoscale, 'userUuid' | 'services' | 'master'>,
  service: LockedService,
): Promise<string> {
  const [by, value] = columnOf(master)
  const found = await db
    .selectFrom('instances')
    .select((eb) => [
      'uuid',
      'name',
      'serviceUuid',
      'cloneOf',
      eb
        .selectFrom('volumes')
        .select('volumes.name')
        .whereRef('volumes.uuid', '=', 'instances.volumeUuid')
        .as('volume'),
    ])
    .where('userUuid', '=', reach.userUuid)
    .where(by, '=', value)
    .where('deletedAt', 'is', null)
    .$if(isLimited(reach), (query) => query.where('serviceUuid', 'in', servicesWithin(db, reach)))
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (found === undefined) throw new Refused({ kind: 'instance-not-found', by, value })
  const { uuid, name, serviceUuid, cloneOf, volume } = found
  if (cloneOf !== null) throw new Refused({ kind: 'master-is-clone', name })
  if (serviceUuid !== service.uuid)
    throw new Refused({ kind: 'master-not-attached', name, service: service.name })
  if (volume !== null) throw new Refused({ kind: 'master-has-volume', name, volume })
  return uuid
}

function admittedSizes(
  user: Row<'users'>,
  { minSize, maxSize }: NewAutoscale,
): { readonly min: number; readonly max: number } {
  const limits = quotaLimitsOf(user)
  if (isAutoscaleDisabled(limits)) throw new Refused({ kind: 'autoscale-disabled' })
  const { minAutoscaleSize: least, maxAutoscaleSize: most } = limits
  const nearest = (size: number) => Math.min(Math.max(size, least), most)
  const min = minSize ?? nearest(defaultAutoscale.minSize)
  const max = maxSize ?? nearest(defaultAutoscale.maxSize)
  const breach = findAutoscaleBreach(limits, { min, max })
  if (breach !== undefined) throw new Refused({ kind: 'autoscale-size', breach })
  if (min > max) throw new Refused({ kind: 'autoscale-sizes-crossed', min, max })
  return { min, max }
}

function settingsOf(userUuid: string, { uuid, name }: LockedService): AutoscaleSettings {
  return { serviceUuid: uuid, serviceName: name, userUuid }
}

async function changed(change: () => Promise<AutoscaleSettings>): Promise<ChangeAutoscaleOutcome> {
  const written = await orRefusal(change)
  return written.ok ? { ok: true, settings: written.value } : written
}
