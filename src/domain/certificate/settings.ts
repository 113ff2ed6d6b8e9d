import type { CertificateLife } from './lifecycle.ts'

/** The input with which the workflow of a certificate is started if it does not run. */
export interface CertificateSettings {
  readonly certificateUuid: string
  /** The user's name for the certificate, for people who look at the workflow. */
  readonly name: string
  readonly userUuid: string
  readonly commonName: string
  /**
   * The life in the row, if a workflow wrote one. A workflow that was terminated continues from there, with a
   * new attempt.
   */
  readonly recorded?: CertificateLife
}
