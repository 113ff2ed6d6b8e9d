import type { CertificateSettings } from '../../domain/certificate/settings.ts'
import type { Row } from '../schema/tables.ts'

/** The columns that a certificate's workflow has to know. */
export const certificateSettingsColumns = [
  'uuid',
  'name',
  'userUuid',
  'commonName',
  'revision',
  'state',
  'attempt',
  'nextAt',
  'failure',
  'notBefore',
  'notAfter',
] as const satisfies readonly (keyof Row<'certificates'>)[]

/** The values of these columns. Every `CertificateRow` has them. */
export type CertificateSettingsRow = Readonly<
  Pick<Row<'certificates'>, (typeof certificateSettingsColumns)[number]>
>

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
