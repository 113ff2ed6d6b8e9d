/** How a VM came up. */
export const StartKind = {
  /** The plain path: kernel and initrd from the start. */
  Boot: 'boot',
  /** Copy-on-write from a pre-booted, paused guest. */
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
  /** To the finished boot of the kernel, just before the application is entered. */
  readonly bootTimeUs: number
  readonly vmmStartTimeUs: number
  readonly vmmLoadTimeUs: number
  readonly vmmReadyTimeUs: number
  /** To the first listening socket; absent until one listens. */
  readonly netTimeUs?: number
}
