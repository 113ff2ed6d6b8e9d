import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { findQuotaExcess } from '../../domain/account/quotas.ts'
import type { Database } from '../database.ts'
import { insertService } from './insert.ts'
import type { NewService } from './new-service.ts'
import { quotasOf } from '../account/quotas.ts'
import { randomSuffix } from '../random-suffix.ts'
import type { RandomSuffix } from '../random-suffix.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { ServiceRow } from './row.ts'
import { findServices } from './services.ts'
import { lockUser } from '../account/user-lock.ts'

export type CreateServiceOutcome =
  /** `service` is undefined if the service was deleted again before it could be read. */
  | { readonly ok: true; readonly uuid: string; readonly service: ServiceRow | undefined }
  | { readonly ok: false; readonly refusal: WriteRefusal }

/**
 * Writes one persistent service with its domains and certificates. All is written or nothing, in one
 * transaction under the lock of the user's row.
 */
export async function createService(
  deps: { readonly database: Database; readonly randomSuffix?: RandomSuffix },
  userUuid: string,
  wanted: NewService,
  asker: Asker = thePlatform,
): Promise<CreateServiceOutcome> {
  const { database } = deps
  const written = await orRefusal(() =>
    database.db.transaction().execute(async (db) => {
      const user = await lockUser(db, userUuid)
      const excess = findQuotaExcess(await quotasOf(db, user), serviceDemand(wanted))
      if (excess) throw new Refused({ kind: 'quota', excess })
      const writer = { userUuid, randomSuffix: deps.randomSuffix ?? randomSuffix, asker }
      return insertService(db, writer, { ...wanted, persistent: true })
    }),
  )
  if (!written.ok) return written
  const [service] = await findServices(database, { userUuid }, [{ uuid: written.value }])
  return { ok: true, uuid: written.value, service }
}

/** What a new service adds to the quotas. */
export function serviceDemand({ ports }: Pick<NewService, 'ports'>) {
  return { serviceGroups: 1, services: ports.length }
}
