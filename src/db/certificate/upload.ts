import { randomUUID } from 'node:crypto'
import { thePlatform } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { CertificateOrigin, CertificateState } from '../../domain/service/handler.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { nameNewCertificate } from './name.ts'
import type { CertificateDeps, CertificateFacts } from './records.ts'
import { certificateKeyContext } from '../service/feed-routes.ts'
import { randomSuffix } from '../random-suffix.ts'
import type { RandomSuffix } from '../random-suffix.ts'
import { orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import { lockUser } from '../account/user-lock.ts'

/** A certificate to upload, which the caller has checked. */
export interface NewCertificate {
  readonly userUuid: string
  /** The certificate's name. Absent: generated from the common name. */
  readonly name?: string
  readonly commonName: string
  /** PEM. */
  readonly chain: string
  readonly keyPem: string
  readonly facts: CertificateFacts
  readonly asker?: Asker
}

export type UploadCertificateOutcome =
  | { readonly ok: true; readonly certificate: { readonly uuid: string; readonly name: string } }
  | { readonly ok: false; readonly refusal: WriteRefusal }

/** Writes an uploaded certificate, with its key sealed. It is valid at once and has no workflow. */
export async function uploadCertificate(
  deps: CertificateDeps & { readonly randomSuffix?: RandomSuffix },
  wanted: NewCertificate,
): Promise<UploadCertificateOutcome> {
  const { userUuid, commonName, chain, keyPem, facts, asker = thePlatform } = wanted
  const uuid = randomUUID()
  const keySealed = deps.secretBox.seal(keyPem, certificateKeyContext(uuid))
  const written = await orRefusal(() =>
    deps.database.db.transaction().execute(async (db) => {
      await lockUser(db, userUuid)
      const writer = { userUuid, randomSuffix: deps.randomSuffix ?? randomSuffix }
      const name = await nameNewCertificate(db, writer, { commonName, name: wanted.name })
      await db
        .insertInto('certificates')
        .values({
          uuid,
          userUuid,
          name,
          commonName,
          chain,
          keySealed,
          ...facts,
          origin: CertificateOrigin.Uploaded,
          state: CertificateState.Valid,
        })
        .execute()
      await writeEvents(db, [
        {
          ...eventObject({ uuid, name, userUuid }),
          kind: UserEventKind.CertificateCreated,
          to: CertificateState.Valid,
          why: `it was uploaded for ${commonName}, valid until ${facts.notAfter.toISOString()}`,
          asker,
        },
      ])
      return name
    }),
  )
  return written.ok ? { ok: true, certificate: { uuid, name: written.value } } : written
}
