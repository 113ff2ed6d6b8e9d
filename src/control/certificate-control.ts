import type { CertificateSettings } from '../domain/certificate/settings.ts'

/**
 * The calls that the rest of Roost makes to the workflow of a requested certificate. As with instances,
 * every call ends within `callDeadlineMs` and throws `ControlUnavailable` if Temporal did not answer in
 * time.
 */
export interface CertificateControl {
  /** Starts the workflow. Idempotent: a workflow that runs, or whose certificate is gone, is left alone. */
  ensureStarted(settings: CertificateSettings): Promise<void>
  /**
   * Makes a certificate that waits for its next attempt, or was given up, begin a new sequence of attempts
   * at once. An attempt under way and a valid certificate stay as they are. Starts the workflow if none
   * runs.
   */
  retry(settings: CertificateSettings): Promise<void>
  /**
   * Tells the workflow that the row is gone, so that it ends now. If the call is lost or throws, the
   * workflow finds that out by itself, with its next step or within a day. Idempotent.
   */
  delete(certificateUuid: string): Promise<void>
  /**
   * Ends the run of the workflow and begins another one (continue-as-new) as soon as nothing is under way, so
   * that it takes up new code.
   */
  refresh(certificateUuid: string): Promise<void>
}
