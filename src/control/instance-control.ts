import type { InstanceSettings } from '../domain/instance/settings.ts'
import type { StopRequest, TransitionAnswer } from '../../workflows/instance/messages.ts'

/**
 * What the rest of Roost may ask of an instance's workflow. Every call ends within `callDeadlineMs`; it
 * throws `ControlUnavailable` where Temporal or the worker did not answer in time, and `InstanceGone` where
 * the instance is being deleted or deleted. Starts and stops of one user wait for each other before, and
 * throw `ControlBusy` where they wait too long. All take the settings, because the workflow may not have been
 * started yet (the creator crashed, Temporal was away): then the call starts it first, with the same effect
 * as `ensureStarted`.
 */
export interface InstanceControl {
  /** Starts the workflow. Idempotent: a workflow that runs, or that deleted its instance, is left alone. */
  ensureStarted(settings: InstanceSettings): Promise<void>
  /**
   * Asks for a start. The answer is the workflow's decision; the row reaches `answer.revision` at about the
   * same time. The same `requestId` always gives the same answer and acts once.
   */
  start(settings: InstanceSettings, requestId: string): Promise<TransitionAnswer>
  /** Asks for a stop; as `start`. It does not wait for the VM to end. */
  stop(settings: InstanceSettings, request: StopRequest, requestId: string): Promise<TransitionAnswer>
  /**
   * Has the instance drain for at most `drainMs`, stop, and be deleted then: it never comes back, whoever
   * starts it. The row has to be marked retired before; where this throws, the sweep repeats it. Idempotent,
   * and returns for instances that are gone already.
   */
  retire(settings: InstanceSettings, drainMs: number, requestId: string): Promise<void>
  /**
   * Tells the workflow that the instance is to go. The row has to be marked deleted before; where this
   * throws, the sweep repeats it. Idempotent, and returns for instances that are gone already.
   */
  delete(settings: InstanceSettings): Promise<void>
  /**
   * When a drain is over at the latest; undefined where none is under way. For people: only the workflow has
   * it.
   */
  drainUntilMs(instanceUuid: string): Promise<number | undefined>
  /**
   * Its host never comes back, so nothing of it is left there: a deletion that waits for that host ends.
   * Changes nothing of what is not deleted. Idempotent, and returns for what is gone already.
   */
  hostGone(instanceUuid: string): Promise<void>
  /**
   * Makes the workflow continue as new at its next idle point, so that it takes up new code without patches.
   */
  refresh(instanceUuid: string): Promise<void>
}
