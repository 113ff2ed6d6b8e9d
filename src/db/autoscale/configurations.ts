import type { EntityManager } from '@mikro-orm/postgresql'
import { defaultAutoscale } from '../../domain/autoscale/policy.ts'
import type { AutoscaleConfiguration, AutoscalePolicy } from '../../domain/autoscale/policy.ts'
import { closedReport } from '../../domain/autoscale/report.ts'
import type { AutoscaleSettings } from '../../domain/autoscale/settings.ts'
import { findAutoscaleBreach, isAutoscaleDisabled } from '../../domain/account/quotas.ts'
import { keepDecision } from './decisions.ts'
import type { Database } from '../database.ts'
import type { UserEntity } from '../schema/user.ts'
import type { Identifier } from '../instance/instances.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import { lockUser } from '../account/user-lock.ts'
import { quotaLimitsOf } from '../account/users.ts'

/** A configuration as it is asked for. */
export interface NewAutoscale {
  readonly userUuid: string
  readonly serviceUuid: string
  readonly master: Identifier
  /** Absent: the default, or what of the account's limits is nearest to that. */
  readonly minSize?: number
  readonly maxSize?: number
  readonly warmupMs: number
  readonly cooldownMs: number
  /** Of different names, and not more than a service may have. */
  readonly policies: readonly AutoscalePolicy[]
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
 * Configures a service that is not, and makes it persistent. What a configuration before left to be closed is
 * taken over. Under the lock of the user's row: of two at once one is refused, and the master is neither
 * deleted nor given a volume beside it. Locks, as everywhere: the user, the service, its configuration, the
 * instance.
 */
export async function insertAutoscale(
  database: Database,
  wanted: NewAutoscale,
): Promise<ChangeAutoscaleOutcome> {
  return changed(() =>
    database.em().transactional(async (em) => {
      const user = await lockUser(em, wanted.userUuid)
      const service = await lockService(em, wanted)
      const sizes = admittedSizes(user, wanted)
      await refuseConfigured(em, service)
      const masterUuid = await lockMaster(em, wanted, service)
      const { warmupMs, cooldownMs, policies } = wanted
      await em.execute(
        `insert into autoscale_configurations
           (service_uuid, user_uuid, master_uuid, min_size, max_size, warmup_ms, cooldown_ms, policies)
         values (?, ?, ?, ?, ?, ?, ?, ?::jsonb)
         on conflict (service_uuid) do update set created_at = now(), deleted_at = null,
           workflow_started_at = null, target = null, master_uuid = excluded.master_uuid,
           min_size = excluded.min_size, max_size = excluded.max_size, warmup_ms = excluded.warmup_ms,
           cooldown_ms = excluded.cooldown_ms, policies = excluded.policies`,
        [
          service.uuid,
          user.uuid,
          masterUuid,
          sizes.min,
          sizes.max,
          warmupMs,
          cooldownMs,
          JSON.stringify(policies),
        ],
        'run',
      )
      await em.execute(
        'update services set persistent = true where uuid = ? and not persistent',
        [service.uuid],
        'run',
      )
      return settingsOf(user.uuid, service)
    }),
  )
}

/** Of those services of the user that are configured, by the services' UUIDs. */
export async function findAutoscale(
  database: Database,
  userUuid: string,
  serviceUuids: readonly string[],
): Promise<ReadonlyMap<string, AutoscaleRow>> {
  const rows = await database.rows<AutoscaleRow>({
    name: 'find-autoscale',
    text: `select c.service_uuid as "serviceUuid", c.min_size as "minSize", c.max_size as "maxSize",
             c.warmup_ms as "warmupMs", c.cooldown_ms as "cooldownMs", c.policies,
             json_build_object('uuid', m.uuid, 'name', m.name) as master
           from autoscale_configurations c join instances m on m.uuid = c.master_uuid
           where c.service_uuid = any($2::uuid[]) and c.user_uuid = $1 and c.deleted_at is null`,
    values: [userUuid, serviceUuids],
  })
  return new Map(rows.map((row) => [row.serviceUuid, row]))
}

/**
 * Makes the configuration invisible, and has all clones go: they are given back in the same moment, with the
 * cooldown to drain. Its workflow closes what is left, and removes the row.
 */
export async function deleteAutoscale(
  database: Database,
  userUuid: string,
  serviceUuid: string,
): Promise<ChangeAutoscaleOutcome> {
  return changed(() =>
    database.em().transactional(async (em) => {
      await lockUser(em, userUuid)
      const service = await lockService(em, { userUuid, serviceUuid })
      const [deleted] = await em.execute<{ cooldownMs: number }[]>(
        `update autoscale_configurations set deleted_at = now() where service_uuid = ? and deleted_at is null
         returning cooldown_ms as "cooldownMs"`,
        [service.uuid],
      )
      if (deleted === undefined)
        throw new Refused({ kind: 'autoscale-not-configured', service: service.name })
      const givenBack = await em.execute<{ name: string }[]>(
        `with given as (update instances set retired_at = now(), retire_drain_ms = ?
           where service_uuid = ? and clone_of is not null and retired_at is null and deleted_at is null
           returning name, position)
         select name from given order by position`,
        [deleted.cooldownMs, service.uuid],
      )
      // Now, and not by the workflow that closes: by then a sweep may have deleted some of them. The master
      // stays.
      const names = givenBack.map(({ name }) => name)
      await keepDecision(em, service.uuid, closedReport({ after: 1, givenBack: names }))
      return settingsOf(userUuid, service)
    }),
  )
}

interface LockedService {
  readonly uuid: string
  readonly name: string
}

async function lockService(
  em: EntityManager,
  { userUuid, serviceUuid }: Pick<NewAutoscale, 'userUuid' | 'serviceUuid'>,
): Promise<LockedService> {
  const [service] = await em.execute<LockedService[]>(
    'select uuid, name from services where uuid = ? and user_uuid = ? for update',
    [serviceUuid, userUuid],
  )
  if (service === undefined) throw new Refused({ kind: 'service-not-found', by: 'uuid', value: serviceUuid })
  return service
}

async function refuseConfigured(em: EntityManager, { uuid, name }: LockedService): Promise<void> {
  const [configured] = await em.execute<{ master: string | null }[]>(
    `select (select name from instances where uuid = master_uuid) as master from autoscale_configurations
     where service_uuid = ? and deleted_at is null`,
    [uuid],
  )
  if (configured === undefined) return
  throw new Refused({ kind: 'autoscale-configured', service: name, master: configured.master ?? '' })
}

/** Answers the UUID of the instance that is to be cloned. Throws `Refused` where it can not be. */
async function lockMaster(
  em: EntityManager,
  { userUuid, master }: NewAutoscale,
  service: LockedService,
): Promise<string> {
  const [by, value] = 'uuid' in master ? (['uuid', master.uuid] as const) : (['name', master.name] as const)
  const [found] = await em.execute<MasterRow[]>(
    `select uuid, name, service_uuid as "serviceUuid", clone_of is not null as "isClone",
       (select name from volumes where uuid = volume_uuid) as volume
     from instances where user_uuid = ? and ${by} = ? and deleted_at is null for no key update`,
    [userUuid, value],
  )
  if (found === undefined) throw new Refused({ kind: 'instance-not-found', by, value })
  const { uuid, name, serviceUuid, isClone, volume } = found
  if (isClone) throw new Refused({ kind: 'master-is-clone', name })
  if (serviceUuid !== service.uuid)
    throw new Refused({ kind: 'master-not-attached', name, service: service.name })
  if (volume !== null) throw new Refused({ kind: 'master-has-volume', name, volume })
  return uuid
}

interface MasterRow {
  readonly uuid: string
  readonly name: string
  readonly serviceUuid: string | null
  readonly isClone: boolean
  readonly volume: string | null
}

function admittedSizes(
  user: UserEntity,
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
