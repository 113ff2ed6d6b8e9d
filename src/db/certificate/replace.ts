import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { CertificateOrigin } from '../../domain/service/handler.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { certificateKeyContext } from '../service/feed-routes.ts'
import type { CertificateDeps, CertificateFacts } from './records.ts'

/** The new contents of an uploaded certificate, which the caller has checked. */
export interface NewContents {
  readonly uuid: string
  readonly userUuid: string
  /** PEM. */
  readonly chain: string
  readonly keyPem: string
  readonly facts: CertificateFacts
  readonly asker?: Asker
}

/**
 * Replaces chain, key and facts of an uploaded certificate, all at once. Gateways hear of it by the feed, as
 * of a renewal, and the domains that use the certificate have it from then on. The same chain again changes
 * nothing and tells no event. False if the user has no such certificate.
 */
export async function replaceContents(
  { database, secretBox }: CertificateDeps,
  { uuid, userUuid, chain, keyPem, facts, asker = thePlatform }: NewContents,
): Promise<boolean> {
  const keySealed = secretBox.seal(keyPem, certificateKeyContext(uuid))
  return database.db.transaction().execute(async (db) => {
    const locked = await db
      .selectFrom('certificates')
      .select(['uuid', 'name', 'userUuid', 'chain'])
      .where('uuid', '=', uuid)
      .where('userUuid', '=', userUuid)
      .where('origin', '=', CertificateOrigin.Uploaded)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (locked === undefined) return false
    if (locked.chain === chain) return true
    await db
      .updateTable('certificates')
      .set({ chain, keySealed, ...facts })
      .where('uuid', '=', uuid)
      .execute()
    const why = `its contents were replaced; it is valid until ${facts.notAfter.toISOString()}`
    const change = { kind: UserEventKind.CertificateInstalled, why, asker }
    await writeEvents(db, [{ ...eventObject(locked), ...change }])
    return true
  })
}
