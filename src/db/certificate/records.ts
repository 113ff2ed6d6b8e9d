import type { News } from '../../domain/event/news.ts'
import type { CertificateLife } from '../../domain/certificate/lifecycle.ts'
import type { CertificateSettings } from '../../domain/certificate/settings.ts'
import { CertificateOrigin } from '../../domain/service/handler.ts'
import type { CertificateState } from '../../domain/service/handler.ts'
import { certificateSettings, certificateSettingsColumns } from './settings.ts'
import type { Database } from '../database.ts'
import { certificateKeyContext } from '../service/feed-routes.ts'
import type { SecretBox } from '../secret-box.ts'
import { insertNewsOfChanged } from '../event/write.ts'
import { constant } from '../sql/constants.ts'
import { anyOf } from '../sql/lists.ts'
import { ago, now } from '../sql/time.ts'
import type { SweepBounds } from '../workflow-rows.ts'

// The queries of a requested certificate's workflow. Nothing here changes uploaded certificates.

export interface CertificateDeps {
  readonly database: Database
  readonly secretBox: SecretBox
}

/** Requested certificates whose workflow is not known to have been started, oldest first. */
export async function findUnstartedCertificates(
  { db }: Database,
  { olderThanMs, limit }: SweepBounds,
): Promise<readonly CertificateSettings[]> {
  const rows = await db
    .selectFrom('certificates')
    .select(certificateSettingsColumns)
    .where('origin', '=', constant(CertificateOrigin.Requested))
    .where('workflowStartedAt', 'is', null)
    .where('createdAt', '<', ago(olderThanMs))
    .orderBy('createdAt')
    .limit(limit)
    .execute()
  return rows.map(certificateSettings)
}

/** Notes that these certificates' workflows run. */
export async function markCertificateWorkflowStarted(
  { db }: Database,
  uuids: readonly string[],
): Promise<void> {
  await db
    .updateTable('certificates')
    .set({ workflowStartedAt: now })
    .where('origin', '=', CertificateOrigin.Requested)
    .where('uuid', '=', anyOf(uuids))
    .where('workflowStartedAt', 'is', null)
    .execute()
}

/** The part of a certificate's life that readers see. */
export interface CertificateRecord extends Pick<CertificateLife, 'state' | 'attempt' | 'failure'> {
  readonly nextAt?: Date | undefined
}

/**
 * Writes the life that the workflow decided. A revision that is not greater than the row's is out of date or
 * a repeat and changes nothing. Returns whether the certificate still exists: a workflow whose row is gone
 * has nothing left to do. The news are written as the user's events if the life is.
 */
export async function recordCertificate(
  { db }: Database,
  {
    uuid,
    revision,
    news = [],
  }: { readonly uuid: string; readonly revision: number; readonly news?: readonly News[] | undefined },
  { state, attempt, nextAt, failure }: CertificateRecord,
): Promise<boolean> {
  const found = await db
    .with('changed', (db) =>
      db
        .updateTable('certificates')
        .set((eb) => ({
          revision,
          state,
          attempt,
          nextAt: nextAt ?? null,
          failure: failure ?? null,
          workflowStartedAt: eb.fn.coalesce('workflowStartedAt', now),
        }))
        .where('uuid', '=', uuid)
        .where('revision', '<', revision)
        .where('origin', '=', CertificateOrigin.Requested)
        .returning(['uuid', 'name', 'userUuid']),
    )
    .with('told', (db) => insertNewsOfChanged(db, news))
    .selectFrom('certificates')
    .select('uuid')
    .where('uuid', '=', uuid)
    .where('origin', '=', CertificateOrigin.Requested)
    .executeTakeFirst()
  return found !== undefined
}

/** The part of a certificate's content that its owner sees. */
export interface CertificateFacts {
  readonly subject: string
  readonly issuer: string
  /** The serial number in hexadecimal, upper case. */
  readonly serialNumber: string
  readonly notBefore: Date
  readonly notAfter: Date
}

/**
 * Replaces chain, key and facts, all at once, and drops order and challenges. Gateways use the certificate
 * at once if its state is `valid`, as it is at a renewal; otherwise as soon as its workflow records this
 * state. Installing the same chain again changes nothing. False if the certificate is gone.
 */
export async function installCertificate(
  { database, secretBox }: CertificateDeps,
  uuid: string,
  made: { readonly chain: string; readonly keyPem: string; readonly facts: CertificateFacts },
): Promise<boolean> {
  const { chain, keyPem, facts } = made
  const keySealed = secretBox.seal(keyPem, certificateKeyContext(uuid))
  const owner = await database.db
    .with(
      (cte) => cte('owner').materialized(),
      (db) =>
        db
          .selectFrom('certificates')
          .select('uuid')
          .where('uuid', '=', uuid)
          .where('origin', '=', CertificateOrigin.Requested)
          .forNoKeyUpdate(),
    )
    .with('ordered', (db) =>
      db.deleteFrom('certificateOrders').using('owner').whereRef('certificateUuid', '=', 'owner.uuid'),
    )
    .with('shown', (db) =>
      db.deleteFrom('acmeChallenges').using('owner').whereRef('certificateUuid', '=', 'owner.uuid'),
    )
    .with('changed', (db) =>
      db
        .updateTable('certificates')
        .from('owner')
        .set({ chain, keySealed, ...facts })
        .whereRef('certificates.uuid', '=', 'owner.uuid')
        .where('chain', 'is distinct from', chain),
    )
    .selectFrom('owner')
    .select('uuid')
    .executeTakeFirst()
  return owner !== undefined
}

/** What an attempt has to know about the certificate that is to be issued. */
export interface WantedCertificate {
  /** The names to certify: the common name alone. */
  readonly names: readonly string[]
  readonly state: CertificateState
  /** The chain, PEM, of the certificate that is to be renewed. */
  readonly chain?: string
  readonly notAfter?: Date
}

/** Undefined if the certificate is gone, or was not requested but uploaded. */
export async function loadForIssue({ db }: Database, uuid: string): Promise<WantedCertificate | undefined> {
  const row = await db
    .selectFrom('certificates')
    .select(['commonName', 'state', 'chain', 'notAfter'])
    .where('uuid', '=', uuid)
    .where('origin', '=', CertificateOrigin.Requested)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { commonName, state, chain, notAfter } = row
  return {
    names: [commonName],
    state,
    ...(chain !== null && { chain }),
    ...(notAfter !== null && { notAfter }),
  }
}
