import type { AutoscaleOutcome } from '../../src/domain/autoscale/outcome.ts'
import type { WatchInput, WatchResult } from '../../src/domain/autoscale/watch.ts'

/**
 * The activities of an autoscale configuration's workflow. Each may be repeated at any time: it compares the
 * present instances with the wanted ones, and changes only the difference.
 */
export interface AutoscaleActivities {
  /** The watch: looks at a service until there is something to do. Its heartbeats say what it sees. */
  watchService(input: WatchInput): Promise<WatchResult>
  /**
   * Aligns the service: adds clones or gives some back until there are `target` instances, and keeps the
   * decision with its cause.
   */
  alignService(input: AlignInput): Promise<AlignResult>
  /**
   * Gives all clones back, starts the master if it is stopped, and removes the row. `closed` is false if the
   * service was configured again meanwhile. Throws if anything else prevents the closing; Temporal repeats
   * it then.
   */
  closeAutoscale(input: { readonly serviceUuid: string }): Promise<{ readonly closed: boolean }>
}

export type { WatchInput, WatchResult } from '../../src/domain/autoscale/watch.ts'

export interface AlignInput {
  readonly serviceUuid: string
  /**
   * The wanted size. If it is absent, no size was decided yet: the present number of instances stays, within
   * `min_size` and `max_size`.
   */
  readonly target?: number
  readonly cause: AutoscaleOutcome
  /** Whether clones may be added. False while a back-off lasts. */
  readonly mayAdd: boolean
}

export interface AlignResult {
  /** The number of instances that count for the size after the alignment. */
  readonly size: number
  /** The size that is wanted from then on. */
  readonly target: number
  readonly added: readonly string[]
  readonly givenBack: readonly string[]
  /** Why not all missing clones were added, for people. It never holds a secret. */
  readonly refusal?: string
  /** Present if nothing was done, because the configuration is deleted or does not exist. */
  readonly closing?: true
}
