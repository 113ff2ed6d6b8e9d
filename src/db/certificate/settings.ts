import type { CertificateSettings } from '../../domain/certificate/settings.ts'
import type { CertificateState } from '../../domain/service/handler.ts'

/** What of a certificate's row its workflow has to know; every `CertificateRow` is one. */
export interface CertificateSettingsRow {
  readonly uuid: string
  readonly name: string
  readonly userUuid: string
  readonly commonName: string
  readonly revision: number
  readonly state: CertificateState
  readonly attempt: number
  readonly nextAt: Date | null
  readonly failure: string | null
  readonly notBefore: Date | null
  readonly notAfter: Date | null
}

/** The select list whose rows are these. */
export const certificateSettingsColumns = `uuid, name, user_uuid as "userUuid", common_name as "commonName", revision,
  state, attempt, next_at as "nextAt", failure, not_before as "notBefore", not_after as "notAfter"`

export function certificateSettings(row: CertificateSettingsRow): CertificateSettings {
  const { uuid, name, userUuid, commonName, revision, state, attempt, nextAt, failure } = row
  const settings = { certificateUuid: uuid, name, userUuid, commonName }
  if (revision === 0) return settings
  const { notBefore, notAfter } = row
  const recorded = {
    state,
    attempt,
    revision,
    ...(nextAt !== null && { nextAtMs: nextAt.getTime() }),
    ...(failure !== null && { failure }),
    ...(notBefore !== null &&
      notAfter !== null && {
        validity: { notBeforeMs: notBefore.getTime(), notAfterMs: notAfter.getTime() },
      }),
  }
  return { ...settings, recorded }
}
