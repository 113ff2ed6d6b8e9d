import type { CertificateOrigin, CertificateState } from '../../domain/service/handler.ts'
import type { CertificateSettingsRow } from './settings.ts'

/** One certificate as readers get it; the chain and its key are not among it. */
export interface CertificateRow extends CertificateSettingsRow {
  readonly position: number
  readonly createdAt: Date
  readonly origin: CertificateOrigin
  readonly state: CertificateState
  readonly subject: string | null
  readonly issuer: string | null
  readonly serialNumber: string | null
  /** With domains that it serves, in the order of their creation. */
  readonly services: readonly { readonly uuid: string; readonly name: string }[]
}

/** Total, so that a field without an expression does not compile. */
const columns: Readonly<Record<keyof CertificateRow, string>> = {
  uuid: 'uuid',
  position: 'position',
  userUuid: 'user_uuid',
  name: 'name',
  createdAt: 'created_at',
  origin: 'origin',
  commonName: 'common_name',
  state: 'state',
  revision: 'revision',
  attempt: 'attempt',
  nextAt: 'next_at',
  failure: 'failure',
  subject: 'subject',
  issuer: 'issuer',
  serialNumber: 'serial_number',
  notBefore: 'not_before',
  notAfter: 'not_after',
  services: `coalesce((select json_agg(json_build_object('uuid', s.uuid, 'name', s.name) order by s.position)
    from services s where s.uuid in (select service_uuid from domains where certificate_uuid = certificates.uuid)), '[]'::json)`,
}

/** The select list over `certificates` whose rows are `CertificateRow`. */
export const certificateColumns = Object.entries(columns)
  .map(([field, expression]) => `${expression} as "${field}"`)
  .join(', ')
