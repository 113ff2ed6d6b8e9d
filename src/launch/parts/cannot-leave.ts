/** A part can not hand over its work, because it has ended or does not want to leave. */
export class CannotLeave extends Error {
  override readonly name = 'CannotLeave'
}
