/** The instance can not move to that host now. The message says why, for people. */
export class MoveRefused extends Error {
  override readonly name = 'MoveRefused'
}
