import type { Database } from '../database.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import { lockUser } from '../account/user-lock.ts'

export type DeleteCertificateOutcome =
  { readonly ok: true } | { readonly ok: false; readonly refusal: WriteRefusal }

/**
 * Deletes the user's certificate with its key, order and attempts. Refused while a domain uses it: whoever
 * gives it to a domain has the user's row, too, so that none does in between. Of two deletes at once one
 * finds it. Its workflow ends when it finds nothing.
 */
export async function deleteCertificate(
  database: Database,
  userUuid: string,
  uuid: string,
): Promise<DeleteCertificateOutcome> {
  const written = await orRefusal(() =>
    database.em().transactional(async (em) => {
      await lockUser(em, userUuid)
      const [locked] = await em.execute<{ name: string }[]>(
        'select name from certificates where uuid = ? and user_uuid = ? for update',
        [uuid, userUuid],
      )
      if (locked === undefined) throw new Refused({ kind: 'certificate-not-found', by: 'uuid', value: uuid })
      const [used] = await em.execute<{ service: string; fqdn: string }[]>(
        `select services.name as service, fqdn from domains join services on services.uuid = service_uuid
         where certificate_uuid = ? order by services.position, ordinal limit 1`,
        [uuid],
      )
      if (used !== undefined) {
        throw new Refused({ kind: 'certificate-attached', name: locked.name, ...used })
      }
      await em.execute('delete from certificates where uuid = ?', [uuid], 'run')
    }),
  )
  return written.ok ? { ok: true } : written
}
