/**
 * The time limit of a call to Temporal. A healthy answer takes a hundredth of this, and callers of the API
 * accept longer waits.
 */
export const callDeadlineMs = 3_000

/**
 * Temporal or the worker did not answer. The call may or may not have been carried out; repeating it is safe.
 */
export class ControlUnavailable extends Error {
  override readonly name = 'ControlUnavailable'
}

/**
 * The user has too many other calls under way, and the turn of this call did not come in time. The call was
 * not carried out.
 */
export class ControlBusy extends Error {
  override readonly name = 'ControlBusy'
}
