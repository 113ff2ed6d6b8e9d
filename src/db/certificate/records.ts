import type { CertificateLife } from '../../domain/certificate/lifecycle.ts'
import type { CertificateSettings } from '../../domain/certificate/settings.ts'
import type { CertificateState } from '../../domain/service/handler.ts'
import { certificateSettings, certificateSettingsColumns } from './settings.ts'
import type { CertificateSettingsRow } from './settings.ts'
import type { Database } from '../database.ts'
import { certificateKeyContext } from '../service/feed-routes.ts'
import type { SecretBox } from '../secret-box.ts'
import { markStarted, readUnstarted } from '../workflow-rows.ts'
import type { SweepBounds, WorkflowTable } from '../workflow-rows.ts'

// What the workflow of a requested certificate reads and writes. Nothing here touches what was uploaded.

export interface CertificateDeps {
  readonly database: Database
  readonly secretBox: SecretBox
}

const table = {
  name: 'certificates',
  columns: certificateSettingsColumns,
  only: "origin = 'requested'",
} satisfies WorkflowTable

/** Requested certificates whose workflow nobody is known to have started, oldest first. */
export async function findUnstartedCertificates(
  database: Database,
  bounds: SweepBounds,
): Promise<readonly CertificateSettings[]> {
  return (await readUnstarted<CertificateSettingsRow>(database, table, bounds)).map(certificateSettings)
}

/** Notes that these certificates' workflows run. */
export async function markCertificateWorkflowStarted(
  database: Database,
  uuids: readonly string[],
): Promise<void> {
  await markStarted(database, table, uuids)
}

/** What readers see of a certificate's life. */
export interface CertificateRecord extends Pick<CertificateLife, 'state' | 'attempt' | 'failure'> {
  readonly nextAt?: Date | undefined
}

/**
 * Writes what the workflow decided. A revision that is not greater than the row's is older news, or a repeat,
 * and changes nothing. Answers whether the certificate is still there: a workflow whose row is gone has
 * nothing left to do.
 */
export async function recordCertificate(
  database: Database,
  certificate: { readonly uuid: string; readonly revision: number },
  { state, attempt, nextAt, failure }: CertificateRecord,
): Promise<boolean> {
  const rows = await database.rows<object>({
    name: 'record-certificate',
    text: `with changed as (update certificates set revision = $2, state = $3, attempt = $4, next_at = $5, failure = $6,
               workflow_started_at = coalesce(workflow_started_at, now())
             where uuid = $1 and revision < $2 and origin = 'requested')
           select 1 from certificates where uuid = $1 and origin = 'requested'`,
    values: [certificate.uuid, certificate.revision, state, attempt, nextAt ?? null, failure ?? null],
  })
  return rows.length > 0
}

/** What of a certificate's content its owner is shown. */
export interface CertificateFacts {
  readonly subject: string
  readonly issuer: string
  /** Hexadecimal, upper case. */
  readonly serialNumber: string
  readonly notBefore: Date
  readonly notAfter: Date
}

/**
 * Replaces chain, key and facts, all at once, and drops order and challenges. Gateways serve it as soon as
 * the recorded state is `valid`; that is the workflow's to say. Repeating the installation of a chain changes
 * nothing. False where the certificate is gone.
 */
export async function installCertificate(
  { database, secretBox }: CertificateDeps,
  uuid: string,
  made: { readonly chain: string; readonly keyPem: string; readonly facts: CertificateFacts },
): Promise<boolean> {
  const { subject, issuer, serialNumber, notBefore, notAfter } = made.facts
  const rows = await database.rows<object>({
    name: 'install-certificate',
    text: `with owner as materialized
               (select uuid from certificates where uuid = $1 and origin = 'requested' for no key update),
             ordered as (delete from certificate_orders using owner where certificate_uuid = owner.uuid),
             shown as (delete from acme_challenges using owner where certificate_uuid = owner.uuid),
             changed as (update certificates set chain = $2, key_sealed = $3, subject = $4, issuer = $5, serial_number = $6,
               not_before = $7, not_after = $8
             from owner where certificates.uuid = owner.uuid and chain is distinct from $2)
           select 1 from owner`,
    values: [
      uuid,
      made.chain,
      secretBox.seal(made.keyPem, certificateKeyContext(uuid)),
      subject,
      issuer,
      serialNumber,
      notBefore,
      notAfter,
    ],
  })
  return rows.length > 0
}

/** What is to be issued. */
export interface WantedCertificate {
  /** The common name alone. */
  readonly names: readonly string[]
  readonly state: CertificateState
  /** PEM, of the one that is to be renewed. */
  readonly chain?: string
  readonly notAfter?: Date
}

/** Undefined where the certificate is gone, or was never requested. */
export async function loadForIssue(database: Database, uuid: string): Promise<WantedCertificate | undefined> {
  const [row] = await database.rows<{
    commonName: string
    state: CertificateState
    chain: string | null
    notAfter: Date | null
  }>({
    name: 'load-for-issue',
    text: `select common_name as "commonName", state, chain, not_after as "notAfter" from certificates
           where uuid = $1 and origin = 'requested'`,
    values: [uuid],
  })
  if (row === undefined) return undefined
  const { commonName, state, chain, notAfter } = row
  return {
    names: [commonName],
    state,
    ...(chain !== null && { chain }),
    ...(notAfter !== null && { notAfter }),
  }
}
