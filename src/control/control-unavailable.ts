/**
 * Longer than any healthy answer by two orders of magnitude, shorter than what a caller of the API accepts.
 */
export const callDeadlineMs = 3_000

/**
 * Temporal or the worker did not answer. The call may or may not have been carried out; repeating it is safe.
 */
export class ControlUnavailable extends Error {
  override readonly name = 'ControlUnavailable'
}

/**
 * The user has too many other calls under way, and the turn of this one did not come. It was not carried out.
 */
export class ControlBusy extends Error {
  override readonly name = 'ControlBusy'
}
