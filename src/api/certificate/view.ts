import type { getCertificates } from '../../contract/certificate/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { CertificateRow } from '../../db/certificate/row.ts'
import { CertificateState } from '../../domain/service/handler.ts'
import { optionalTimestamp, timestamp } from '../timestamp.ts'

type Details = OperationEntry<typeof getCertificates>

/** All fields of a certificate. Its chain and its key are never shown. */
export function presentCertificate(row: CertificateRow): Details {
  const { subject, issuer, serialNumber } = row
  return {
    uuid: row.uuid,
    name: row.name,
    created_at: timestamp(row.createdAt),
    common_name: row.commonName,
    state: row.state,
    ...presentReason(row),
    ...presentValidation(row),
    ...(subject === null ? {} : { subject }),
    ...(issuer === null ? {} : { issuer }),
    ...(serialNumber === null ? {} : { serial_number: serialNumber }),
    ...optionalTimestamp('not_before', row.notBefore),
    ...optionalTimestamp('not_after', row.notAfter),
    service_groups: row.services.map(({ uuid, name }) => ({ uuid, name })),
  }
}

/**
 * The reason of the last failed attempt. It is shown too while the next attempt is due, and if a valid
 * certificate could not be renewed yet.
 */
function presentReason({ state, failure }: CertificateRow): Pick<Details, 'reason'> {
  if (failure !== null) return { reason: failure }
  return state === CertificateState.Error ? { reason: 'unknown' } : {}
}

function presentValidation({ state, attempt, nextAt }: CertificateRow): Pick<Details, 'validation'> {
  if (state !== CertificateState.Pending) return {}
  return { validation: { attempt, ...optionalTimestamp('next', nextAt) } }
}
