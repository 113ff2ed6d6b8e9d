import type { AutoscaleLife } from '../domain/autoscale/life.ts'
import type { AutoscaleSettings } from '../domain/autoscale/settings.ts'
import type { AutoscaleView } from '../domain/autoscale/watch.ts'

/**
 * What the rest of Roost may ask of the workflow of an autoscale configuration. As with instances, every call
 * ends within `callDeadlineMs` and throws `ControlUnavailable` where Temporal did not answer in time; the
 * sweep repeats what was lost.
 */
export interface AutoscaleControl {
  /**
   * Starts the workflow where none runs, also after an earlier configuration of the service is over or a
   * person terminated it: then it goes on from what the row says. Idempotent: one that runs is left alone.
   * One that is just ending may be missed; for a new configuration it is `configured` that is asked.
   */
  ensureStarted(settings: AutoscaleSettings): Promise<void>
  /**
   * Tells that the service is configured, for the first time or again: starts the workflow, and one that
   * closes the configuration before lives on with this one. Repeating it is harmless: the size is taken from
   * what there is.
   */
  configured(settings: AutoscaleSettings): Promise<void>
  /**
   * Tells the workflow that the configuration is to be closed. The row has to be marked deleted before; where
   * this throws, the sweep repeats it. Idempotent, and returns for configurations that are gone already.
   */
  delete(settings: AutoscaleSettings): Promise<void>
  /** Makes the workflow continue as new when it only watches. */
  refresh(serviceUuid: string): Promise<void>
  /**
   * Has a watch given out again that a worker began before `beforeMs` and has not ended: whoever starts then
   * takes the place of one that was killed, and its heartbeats are not waited for. A worker that lives loses
   * the watch to whoever is quicker, and nothing else. False: there was none.
   */
  callInWatch(serviceUuid: string, beforeMs: number): Promise<boolean>
  /** What the workflow has in mind and its watch saw last, for people; undefined where none runs. */
  seen(serviceUuid: string): Promise<SeenAutoscale | undefined>
}

export interface SeenAutoscale {
  readonly life: AutoscaleLife
  /** Absent while it does not watch, or has not seen anything yet. */
  readonly view?: AutoscaleView
  /** What it does now failed before, and is tried again. */
  readonly broken?: { readonly attempt: number; readonly message: string }
}
