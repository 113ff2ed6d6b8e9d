/** Why the registry did not give what was asked for. */
export const RegistryFailure = {
  /** The thing is not there, or these credentials do not show it. */
  NotFound: 'not-found',
  /** The registry refuses the token. */
  Denied: 'denied',
  /** The registry does not answer, or answers with an error of its own: another attempt may succeed. */
  Unavailable: 'unavailable',
  /** What came does not have its digest, is malformed, or is over a limit: another attempt will not help. */
  Corrupt: 'corrupt',
} as const
export type RegistryFailure = (typeof RegistryFailure)[keyof typeof RegistryFailure]

export class RegistryError extends Error {
  override readonly name = 'RegistryError'
  readonly failure: RegistryFailure
  /** The status that the registry answered, if it answered. */
  readonly status: number | undefined
  constructor(
    failure: RegistryFailure,
    message: string,
    options: ErrorOptions & { readonly status?: number } = {},
  ) {
    super(message, options)
    this.failure = failure
    this.status = options.status
  }
}
