import type { Asker } from '../domain/event/asker.ts'
import type { HostLoss } from '../domain/host/term.ts'
import type { InstanceSettings } from '../domain/instance/settings.ts'
import type {
  MoveRequest,
  StopRequest,
  SuspendRequest,
  TransitionAnswer,
} from '../../workflows/instance/messages.ts'

/**
 * The calls that the rest of Roost makes to an instance's workflow. Most take the settings, because the
 * workflow may not have been started yet (the creator crashed, Temporal was away); then the call starts it
 * first, with the same effect as `ensureStarted`. Each request to Temporal ends within `callDeadlineMs`. A
 * call throws `ControlUnavailable` if Temporal or the worker did not answer in time, and `InstanceGone` if
 * the instance is deleted or being deleted. Only a few starts and stops are under way at a time; the others
 * wait for their turn, and throw `ControlBusy` if they wait too long.
 */
export interface InstanceControl {
  /** Starts the workflow. Idempotent: a workflow that runs, or that deleted its instance, is left alone. */
  ensureStarted(settings: InstanceSettings): Promise<void>
  /**
   * Asks for a start. The answer is the workflow's decision; the row reaches `answer.revision` at about the
   * same time. The same `requestId` always gives the same answer and acts once.
   */
  start(settings: InstanceSettings, requestId: string, asker?: Asker): Promise<TransitionAnswer>
  /** Asks for a stop, like `start`. The call does not wait for the VM to end. */
  stop(settings: InstanceSettings, request: StopRequest, requestId: string): Promise<TransitionAnswer>
  /**
   * Asks for standby now, like `start`. The call does not wait until the instance sleeps. Nothing changes if
   * it sleeps already, is stopped or is on its way there; the answer's states say so.
   */
  suspend(settings: InstanceSettings, request: SuspendRequest, requestId: string): Promise<TransitionAnswer>
  /**
   * Asks for a move to another host, like `start`. The call does not wait until it is over. A move to the
   * same host that is under way goes on. Throws `MoveRefused` if the instance can not move there now.
   */
  move(settings: InstanceSettings, request: MoveRequest, requestId: string): Promise<TransitionAnswer>
  /**
   * Tells of a change of the configuration that the settings hold, like `start`. A change that the workflow
   * knows already has no effect. The row has to be changed before. If the call throws, the sweep repeats it.
   */
  change(settings: InstanceSettings, requestId: string, asker?: Asker): Promise<TransitionAnswer>
  /**
   * Makes the instance drain for at most `drainMs`, stop and be deleted. A start does not take that back.
   * Without an asker, autoscale asks for it.
   * The row has to be marked retired before. If the call throws, the sweep repeats it. Idempotent; it also
   * returns if the instance is gone already.
   */
  retire(settings: InstanceSettings, drainMs: number, requestId: string, asker?: Asker): Promise<void>
  /**
   * Tells the workflow to delete the instance. The row has to be marked deleted before. If the call throws,
   * the sweep repeats it. Idempotent; it also returns if the instance is gone already.
   */
  delete(settings: InstanceSettings): Promise<void>
  /**
   * The time by which the drain under way ends at the latest; undefined if there is none. The row does not
   * have this time, so the workflow is asked. It is only shown to people; nothing is decided by it.
   */
  drainUntilMs(instanceUuid: string): Promise<number | undefined>
  /**
   * Tells the workflow that the instance's host never comes back, so nothing of the instance is left there. A
   * deletion that waits for an answer of that host ends without it. An instance that is not deleted stays as
   * it is. Idempotent; it also returns if the instance is gone already.
   */
  hostGone(instanceUuid: string): Promise<void>
  /**
   * Tells the workflow that the instance's host is lost, so its VM has ended. Starts the workflow first if it
   * was never started. Idempotent; it also returns if the instance is gone already.
   */
  hostLost(settings: InstanceSettings, loss: HostLoss): Promise<void>
  /**
   * Ends the run of the workflow and begins another one (continue-as-new) as soon as nothing is under way, so
   * that it takes up new code without patches.
   */
  refresh(instanceUuid: string): Promise<void>
}
