/**
 * Set-up could not get something. The fields say what is missing, why it is needed, and what a person can do
 * to get it.
 */
export class Missing extends Error {
  name = 'Missing'
  /** @param {{ what: string, why: string, command: string, cause?: unknown }} about */
  constructor({ what, why, command, cause }) {
    super(`${what} is missing`, { cause })
    this.what = what
    this.why = why
    this.command = command
  }
}
