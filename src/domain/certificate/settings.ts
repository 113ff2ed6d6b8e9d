import type { CertificateLife } from './lifecycle.ts'

/** What the workflow of a certificate is started with, should it not run. */
export interface CertificateSettings {
  readonly certificateUuid: string
  /** What its user calls it: for people who look at its workflow. */
  readonly name: string
  readonly userUuid: string
  readonly commonName: string
  /**
   * What the row says, where a workflow wrote it: one that was terminated goes on from there, with a new
   * attempt.
   */
  readonly recorded?: CertificateLife
}
