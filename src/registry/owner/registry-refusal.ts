/**
 * The codes of the registry protocol's errors, which clients know, each with the HTTP status of its answer.
 */
const statuses = {
  DENIED: 403,
  MANIFEST_INVALID: 400,
  MANIFEST_UNKNOWN: 404,
  NAME_INVALID: 400,
  TOOMANYREQUESTS: 429,
  UNAVAILABLE: 503,
  UNSUPPORTED: 405,
} as const

/** A request that the owner of the registry refuses. The message is for the person who pushes. */
export class RegistryRefusal extends Error {
  override readonly name = 'RegistryRefusal'
  readonly code: keyof typeof statuses

  constructor(code: keyof typeof statuses, message: string) {
    super(message)
    this.code = code
  }

  get status(): number {
    return statuses[this.code]
  }

  /** The error in the registry's own form, so that clients print the sentence. */
  get body(): string {
    return `${JSON.stringify({ errors: [{ code: this.code, message: this.message }] })}\n`
  }
}
