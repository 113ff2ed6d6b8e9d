import type { ExpressionBuilder } from 'kysely'
import { jsonBuildObject } from 'kysely/helpers/postgres'
import type { AutoscaleConfiguration } from '../../domain/autoscale/policy.ts'
import type { Database } from '../database.ts'
import type { Db, Tables } from '../schema/tables.ts'
import { isServiceCalled } from '../service/search.ts'

/** How a service is scaled, as an administrator sees it. */
export interface OwnedAutoscale {
  readonly serviceUuid: string
  readonly serviceName: string
  readonly userName: string
  /** Null if the service has none. */
  readonly configuration: AutoscaleConfiguration | null
  /** Since when the configuration is being closed; null if it is not deleted. */
  readonly deletedAt: Date | null
  readonly target: number | null
  /** The names of clones that are given back and not deleted yet, in the order in which they were made. */
  readonly leaving: readonly string[]
}

/** How many services are found at most. A longer list would not help to tell services of one name apart. */
const maxFound = 20

/**
 * For administrators: the service that has this UUID, and all services that have this name, of every user or
 * of `userName` alone.
 */
export async function searchAutoscaled(
  { db }: Database,
  wanted: { readonly uuidOrName: string; readonly userName?: string },
): Promise<readonly OwnedAutoscale[]> {
  const { uuidOrName, userName } = wanted
  const found = await selectAutoscaled(db)
    .where(isServiceCalled(uuidOrName))
    .$if(userName !== undefined, (query) => query.where('users.name', '=', userName!))
    .orderBy('users.name')
    .limit(maxFound)
    .execute()
  return found.map(withLeaving)
}

/** How the service with this UUID is scaled; undefined if there is no such service. */
export async function findAutoscaled(
  { db }: Database,
  serviceUuid: string,
): Promise<OwnedAutoscale | undefined> {
  const found = await selectAutoscaled(db).where('services.uuid', '=', serviceUuid).executeTakeFirst()
  return found && withLeaving(found)
}

function withLeaving<Row extends { readonly leaving: readonly string[] | null }>(row: Row) {
  return { ...row, leaving: row.leaving ?? [] }
}

function selectAutoscaled(db: Db) {
  return db
    .selectFrom('services')
    .innerJoin('users', 'users.uuid', 'services.userUuid')
    .leftJoin('autoscaleConfigurations as configured', 'configured.serviceUuid', 'services.uuid')
    .select((eb) => [
      'services.uuid as serviceUuid',
      'services.name as serviceName',
      'users.name as userName',
      'configured.deletedAt',
      'configured.target',
      eb
        .case()
        .when('configured.serviceUuid', 'is not', null)
        .then(
          jsonBuildObject({
            minSize: eb.ref('configured.minSize'),
            maxSize: eb.ref('configured.maxSize'),
            warmupMs: eb.ref('configured.warmupMs'),
            cooldownMs: eb.ref('configured.cooldownMs'),
            policies: eb.ref('configured.policies'),
          }).$castTo<AutoscaleConfiguration>(),
        )
        .end()
        .as('configuration'),
      namesLeaving(eb).as('leaving'),
    ])
}

/** The names of clones that are given back and not deleted yet; null if there are none. */
function namesLeaving(eb: ExpressionBuilder<Tables, 'services'>) {
  return eb
    .selectFrom('instances')
    .whereRef('instances.serviceUuid', '=', 'services.uuid')
    .where('instances.cloneOf', 'is not', null)
    .where('instances.retiredAt', 'is not', null)
    .where('instances.deletedAt', 'is', null)
    .select((eb) =>
      eb.fn
        .agg<readonly string[] | null>('array_agg', ['instances.name'])
        .orderBy('instances.position')
        .as('names'),
    )
}
