import { StartKind } from '../../domain/instance/start-report.ts'

/** How long a start may take until its application is entered. */
export const startLimitsMs: Readonly<Record<StartKind, number>> = {
  /** An emulated guest boots in about 1 s, but needs far longer on a busy host. */
  [StartKind.Boot]: 60_000,
  /** Such a start usually takes 0.3 s. After this limit a plain boot is tried. */
  [StartKind.Template]: 10_000,
  /**
   * A restore usually takes 0.1 s. Gigabytes of memory from a slow disk take longer; then a boot is as quick.
   * The limit includes the 5 s that the keeper gives a guest to set its clock.
   */
  [StartKind.Restore]: 20_000,
}
