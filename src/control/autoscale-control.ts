import type { AutoscaleLife } from '../domain/autoscale/life.ts'
import type { AutoscaleSettings } from '../domain/autoscale/settings.ts'
import type { AutoscaleView } from '../domain/autoscale/watch.ts'

/**
 * The calls that the rest of Roost makes to the workflow of an autoscale configuration. As with instances,
 * every call ends within `callDeadlineMs` and throws `ControlUnavailable` if Temporal did not answer in
 * time. The sweep repeats calls that were lost.
 */
export interface AutoscaleControl {
  /**
   * Starts the workflow if none runs, also if the workflow of an earlier configuration is over. If a person
   * terminated the workflow, the new one goes on from the row. Idempotent: a running workflow is left alone.
   * If the workflow is just ending, the call may have no effect; so a new configuration calls `configured`
   * instead.
   */
  ensureStarted(settings: AutoscaleSettings): Promise<void>
  /**
   * Tells the workflow that the service is configured, for the first time or again. Starts the workflow if
   * none runs. A workflow that is closing the earlier configuration goes on with this one. Repeating the
   * call is harmless: the size is taken from the present instances.
   */
  configured(settings: AutoscaleSettings): Promise<void>
  /**
   * Tells the workflow to close the configuration. The row has to be marked deleted before. If the call
   * throws, the sweep repeats it. Idempotent; it also returns if the configuration is gone already.
   */
  delete(settings: AutoscaleSettings): Promise<void>
  /** Makes the workflow continue as new as soon as nothing but a watch is under way. */
  refresh(serviceUuid: string): Promise<void>
  /**
   * Calls in the service's watch if none of the `living` workers has it: Temporal gives the watch out again.
   * So another worker takes over from one that was killed, without waiting for missed heartbeats. If the old
   * worker is alive, another worker may get the watch, and nothing else happens. False if there was no such
   * watch.
   */
  callInWatch(serviceUuid: string, living: ReadonlySet<string>): Promise<boolean>
  /** The workflow's life and the last view of its watch, for people. Undefined if no workflow runs. */
  seen(serviceUuid: string): Promise<SeenAutoscale | undefined>
}

export interface SeenAutoscale {
  readonly life: AutoscaleLife
  /** Absent while no watch is under way, or before the first view. */
  readonly view?: AutoscaleView
  /** Present if the last attempt of the present activity failed and the next one has not begun. */
  readonly broken?: { readonly attempt: number; readonly message: string }
}
