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
   * Starts the workflow if none runs, also after an earlier configuration of the service is over or a person
   * terminated the workflow: it goes on from the row. Idempotent: a running workflow is left alone. If the
   * workflow is just ending, the call may have no effect; so a new configuration calls `configured` instead.
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
   * Makes Temporal give out a watch again that a worker began before `beforeMs` and that has not ended. So a
   * new worker replaces one that was killed, without the wait for missed heartbeats. If the old worker
   * lives, the only effect is that another worker may take the watch over. False if there was no such watch.
   */
  callInWatch(serviceUuid: string, beforeMs: number): Promise<boolean>
  /** The workflow's life and the last view of its watch, for people. Undefined if no workflow runs. */
  seen(serviceUuid: string): Promise<SeenAutoscale | undefined>
}

export interface SeenAutoscale {
  readonly life: AutoscaleLife
  /** Absent while no watch is under way, or before the first view. */
  readonly view?: AutoscaleView
  /** Present if the present activity failed and is going to be tried again. */
  readonly broken?: { readonly attempt: number; readonly message: string }
}
