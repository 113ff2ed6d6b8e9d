import type { EntityManager } from '@mikro-orm/postgresql'
import type { AutoscalePolicy } from '../../domain/autoscale/policy.ts'
import { maxPoliciesPerService } from '../../domain/autoscale/steps.ts'
import type { Database } from '../database.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'

/** What became of each policy, in the order in which they were given; `refusal` absent: it was done. */
export type ChangePoliciesOutcome =
  | { readonly ok: true; readonly changes: readonly PolicyChange[] }
  | { readonly ok: false; readonly refusal: WriteRefusal }

export interface PolicyChange {
  readonly name: string
  readonly refusal?: WriteRefusal
}

interface ConfiguredService {
  readonly userUuid: string
  readonly uuid: string
  readonly name: string
}

/**
 * Adds each of a service's new policies unless its name is taken or there are too many; the others are added
 * all the same.
 */
export async function addPolicies(
  database: Database,
  service: ConfiguredService,
  added: readonly AutoscalePolicy[],
): Promise<ChangePoliciesOutcome> {
  return changed(database, service, (policies) => {
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

/** Removes those of a service's policies that there are. */
export async function deletePolicies(
  database: Database,
  service: ConfiguredService,
  names: readonly string[],
): Promise<ChangePoliciesOutcome> {
  return changed(database, service, (policies) => {
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
 * Under the lock of the configuration alone, so that changes at once come one after the other; nobody else
 * waits for it with more.
 */
async function changed(
  database: Database,
  service: ConfiguredService,
  change: (policies: readonly AutoscalePolicy[]) => Change,
): Promise<ChangePoliciesOutcome> {
  const written = await orRefusal(() =>
    database.em().transactional(async (em) => {
      const { kept, changes } = change(await lockPolicies(em, service))
      await em.execute(
        'update autoscale_configurations set policies = ?::jsonb where service_uuid = ?',
        [JSON.stringify(kept), service.uuid],
        'run',
      )
      return changes
    }),
  )
  return written.ok ? { ok: true, changes: written.value } : written
}

async function lockPolicies(
  em: EntityManager,
  { userUuid, uuid, name }: ConfiguredService,
): Promise<readonly AutoscalePolicy[]> {
  const [configured] = await em.execute<{ policies: readonly AutoscalePolicy[] }[]>(
    `select policies from autoscale_configurations
     where service_uuid = ? and user_uuid = ? and deleted_at is null for no key update`,
    [uuid, userUuid],
  )
  if (configured === undefined) throw new Refused({ kind: 'autoscale-not-configured', service: name })
  return configured.policies
}
