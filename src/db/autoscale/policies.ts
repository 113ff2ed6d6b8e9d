import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { AutoscalePolicy } from '../../domain/autoscale/policy.ts'
import { maxPoliciesPerService } from '../../domain/autoscale/steps.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import type { NewEvent } from '../event/write.ts'
import { json } from '../postgres-client.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { Db } from '../schema/tables.ts'

/**
 * The result for each policy, in the order of the request. A policy without `refusal` was added or removed.
 */
export type ChangePoliciesOutcome =
  | { readonly ok: true; readonly changes: readonly PolicyChange[] }
  | { readonly ok: false; readonly refusal: WriteRefusal }

export interface PolicyChange {
  readonly name: string
  readonly refusal?: WriteRefusal
}

interface ConfiguredService {
  readonly userUuid: string
  /** Who asks for the change. */
  readonly asker?: Asker
  readonly uuid: string
  readonly name: string
}

/**
 * Adds policies to a service. A policy is refused if its name is taken or the service has too many; the
 * others are still added.
 */
export async function addPolicies(
  database: Database,
  service: ConfiguredService,
  added: readonly AutoscalePolicy[],
): Promise<ChangePoliciesOutcome> {
  return changed(database, { service, what: 'policies were added:' }, (policies) => {
    const kept = [...policies]
    const changes = added.map((policy): PolicyChange => {
      const { name } = policy
      if (kept.some((other) => other.name === name)) return { name, refusal: { kind: 'policy-taken', name } }
      if (kept.length >= maxPoliciesPerService) {
        const refusal = { kind: 'too-many-policies', limit: maxPoliciesPerService } as const
        return { name, refusal }
      }
      kept.push(policy)
      return { name }
    })
    return { kept, changes }
  })
}

/**
 * Removes policies of a service. Names that no policy has are refused; the other policies are still removed.
 */
export async function deletePolicies(
  database: Database,
  service: ConfiguredService,
  names: readonly string[],
): Promise<ChangePoliciesOutcome> {
  return changed(database, { service, what: 'policies were removed:' }, (policies) => {
    let kept = policies
    const changes = names.map((name): PolicyChange => {
      const left = kept.filter((policy) => policy.name !== name)
      if (left.length === kept.length) return { name, refusal: { kind: 'policy-not-found', name } }
      kept = left
      return { name }
    })
    return { kept, changes }
  })
}

interface Change {
  readonly kept: readonly AutoscalePolicy[]
  readonly changes: readonly PolicyChange[]
}

/**
 * Changes the policies under the lock of the configuration's row, so that concurrent changes run one after
 * the other. No other lock is taken, so other transactions wait for nothing but this row.
 */
async function changed(
  database: Database,
  { service, what }: { readonly service: ConfiguredService; readonly what: string },
  change: (policies: readonly AutoscalePolicy[]) => Change,
): Promise<ChangePoliciesOutcome> {
  const written = await orRefusal(() =>
    database.db.transaction().execute(async (db) => {
      const { kept, changes } = change(await lockPolicies(db, service))
      await db
        .updateTable('autoscaleConfigurations')
        .set({ policies: json(kept) })
        .where('serviceUuid', '=', service.uuid)
        .execute()
      const names = changes.flatMap(({ name, refusal }) => (refusal === undefined ? [name] : []))
      await writeEvents(db, names.length === 0 ? [] : [policiesEvent(service, `${what} ${names.join(', ')}`)])
      return changes
    }),
  )
  return written.ok ? { ok: true, changes: written.value } : written
}

function policiesEvent(service: ConfiguredService, why: string): NewEvent {
  const { asker = thePlatform } = service
  return { ...eventObject(service), kind: UserEventKind.AutoscalePolicies, why, asker }
}

async function lockPolicies(
  db: Db,
  { userUuid, uuid, name }: ConfiguredService,
): Promise<readonly AutoscalePolicy[]> {
  const configured = await db
    .selectFrom('autoscaleConfigurations')
    .select('policies')
    .where('serviceUuid', '=', uuid)
    .where('userUuid', '=', userUuid)
    .where('deletedAt', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (configured === undefined) throw new Refused({ kind: 'autoscale-not-configured', service: name })
  return configured.policies
}
