import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import { lockUser } from '../account/user-lock.ts'
import type { Db } from '../schema/tables.ts'

export type DeleteCertificateOutcome =
  { readonly ok: true } | { readonly ok: false; readonly refusal: WriteRefusal }

/**
 * Deletes the user's certificate with its key, order and attempts. Refused while a domain uses the
 * certificate. A transaction that gives a certificate to a domain locks the user's row too, so no domain
 * gets this one between the check and the delete. Of two deletes at once, only one finds the certificate.
 * The certificate's workflow ends when it finds no row.
 */
export async function deleteCertificate(
  database: Database,
  userUuid: string,
  uuid: string,
  asker: Asker = thePlatform,
): Promise<DeleteCertificateOutcome> {
  const written = await orRefusal(() =>
    database.db.transaction().execute(async (db) => {
      await lockUser(db, userUuid)
      const locked = await db
        .selectFrom('certificates')
        .select(['uuid', 'name', 'userUuid', 'state'])
        .where('uuid', '=', uuid)
        .where('userUuid', '=', userUuid)
        .forUpdate()
        .executeTakeFirst()
      if (locked === undefined) throw new Refused({ kind: 'certificate-not-found', by: 'uuid', value: uuid })
      const used = await firstUse(db, uuid)
      if (used !== undefined) {
        throw new Refused({ kind: 'certificate-attached', name: locked.name, ...used })
      }
      await db.deleteFrom('certificates').where('uuid', '=', uuid).execute()
      const why = 'its deletion was asked for'
      const change = { kind: UserEventKind.CertificateDeleted, from: locked.state, why, asker }
      await writeEvents(db, [{ ...eventObject(locked), ...change }])
    }),
  )
  return written.ok ? { ok: true } : written
}

/** The first domain that uses the certificate, of the service that was created first. */
async function firstUse(db: Db, uuid: string) {
  return db
    .selectFrom('domains')
    .innerJoin('services', 'services.uuid', 'domains.serviceUuid')
    .select(['services.name as service', 'domains.fqdn'])
    .where('domains.certificateUuid', '=', uuid)
    .orderBy('services.position')
    .orderBy('domains.ordinal')
    .limit(1)
    .executeTakeFirst()
}
