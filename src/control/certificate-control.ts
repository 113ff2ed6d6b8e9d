import type { CertificateSettings } from '../domain/certificate/settings.ts'

/**
 * What the rest of Roost may ask of the workflow of a requested certificate. As with instances, every call
 * ends within `callDeadlineMs` and throws `ControlUnavailable` where Temporal did not answer in time.
 */
export interface CertificateControl {
  /** Starts the workflow. Idempotent: one that runs, or whose certificate is gone, is left alone. */
  ensureStarted(settings: CertificateSettings): Promise<void>
  /**
   * Has what waits for its next attempt, or was given up, tried at once, in a new sequence of attempts. An
   * attempt that is under way, and a certificate that is valid, are left as they are. Starts the workflow too
   * where none runs.
   */
  retry(settings: CertificateSettings): Promise<void>
  /**
   * Tells the workflow that the row is gone, so that it ends now. Where this is lost, or throws, it finds
   * that out by itself, with its next step or within a day. Idempotent.
   */
  delete(certificateUuid: string): Promise<void>
  /** Makes the workflow continue as new at its next idle point. */
  refresh(certificateUuid: string): Promise<void>
}
