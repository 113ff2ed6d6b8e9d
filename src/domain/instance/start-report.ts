/** How a VM came up. */
export const StartKind = {
  /** A plain boot: kernel and initrd from the beginning. */
  Boot: 'boot',
  /** A copy-on-write copy of a pre-booted, paused guest. */
  Template: 'template',
  /** From the instance's own snapshot. */
  Restore: 'restore',
} as const
export type StartKind = (typeof StartKind)[keyof typeof StartKind]

/** What a host measured of one start, in microseconds since the start was asked of the host. */
export interface StartReport {
  readonly boot: number
  readonly kind: StartKind
  readonly startedAtMs: number
  /** The time until the kernel has booted, just before the application is entered. */
  readonly bootTimeUs: number
  readonly vmmStartTimeUs: number
  readonly vmmLoadTimeUs: number
  readonly vmmReadyTimeUs: number
  /** The time until the first socket listens. It is absent until one does. */
  readonly netTimeUs?: number
  /** The version of the configuration with which it was launched. Absent: 0. */
  readonly configVersion?: number
}
