import type { AutoscaleOutcome } from '../../src/domain/autoscale/outcome.ts'
import type { WatchInput, WatchResult } from '../../src/domain/autoscale/watch.ts'

/**
 * What the workflow of an autoscale configuration does. All may be repeated at any time: they make what
 * should be out of what is.
 */
export interface AutoscaleActivities {
  /**
   * Looks at a service until there is something to do; its heartbeats tell what it sees. On a task queue of
   * its own.
   */
  watchService(input: WatchInput): Promise<WatchResult>
  /** Makes the service have `target` instances: adds clones, or gives some back, and keeps in mind why. */
  alignService(input: AlignInput): Promise<AlignResult>
  /**
   * Gives all clones back, starts the master if it is stopped, and removes the row. `closed` is false where
   * the service was configured again meanwhile; whatever else keeps it from being closed is thrown, and this
   * is tried again.
   */
  closeAutoscale(input: { readonly serviceUuid: string }): Promise<{ readonly closed: boolean }>
}

export type { WatchInput, WatchResult } from '../../src/domain/autoscale/watch.ts'

export interface AlignInput {
  readonly serviceUuid: string
  /** Absent where nothing was decided yet: as many as there are, within the bounds. */
  readonly target?: number
  readonly cause: AutoscaleOutcome
  /** False while a back-off lasts. */
  readonly mayAdd: boolean
}

export interface AlignResult {
  /** Instances of the size afterwards. */
  readonly size: number
  /** What is wanted from then on. */
  readonly target: number
  readonly added: readonly string[]
  readonly givenBack: readonly string[]
  /** Why not all were added, for people; never a secret. */
  readonly refusal?: string
  /** The configuration is deleted, or there is none: nothing was done. */
  readonly closing?: true
}
