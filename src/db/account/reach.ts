import type { Db } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'

/** Whose objects a query finds: those of one user, or only those of some of the user's services. */
export interface Reach {
  readonly userUuid: string
  /**
   * The names of the services to which the reach is limited. An instance without a service is then out of
   * reach. Null or absent: all objects of the user.
   */
  readonly services?: readonly string[] | null
}

/** The UUIDs of the services within a limited reach, for the right side of `in`. */
export function servicesWithin(db: Db, { userUuid, services }: Reach) {
  return db
    .selectFrom('services')
    .select('services.uuid')
    .where('services.userUuid', '=', userUuid)
    .where('services.name', '=', anyOf(services ?? []))
}

export function isLimited({ services }: Reach): boolean {
  return services !== undefined && services !== null
}
