import type { RestartPolicy } from './restart-policy.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'

/**
 * How far the changes of an instance's configuration have come. The configuration itself is in the row; a
 * host gets it with the launch spec. Each change gives it the next version, from 1; an instance that was
 * never changed has version 0.
 */
export interface ConfigurationVersion {
  readonly version: number
  /** A boot, or a kept memory, with an older configuration than this is to be replaced. */
  readonly renewBelow: number
  /** How long what is connected may take to end before a boot is replaced. */
  readonly drainMs: number
}

/** What the workflow of an instance hears of a change: the version, and the rules that it keeps by itself. */
export interface ConfigurationChange extends ConfigurationVersion {
  readonly restartPolicy: RestartPolicy
  readonly deleteOnStop: boolean
  readonly scaleToZero: ScaleToZero
}
