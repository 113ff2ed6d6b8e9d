/** Why the registry did not give the requested content. */
export const RegistryFailure = {
  /** The thing does not exist, or the token does not permit to see it. */
  NotFound: 'not-found',
  /** The registry refuses the token. */
  Denied: 'denied',
  /** The registry does not answer, or answers with an error of its own: another attempt may succeed. */
  Unavailable: 'unavailable',
  /**
   * The content does not have its digest, is malformed, or is over a limit. Another attempt will not help.
   */
  Corrupt: 'corrupt',
} as const
export type RegistryFailure = (typeof RegistryFailure)[keyof typeof RegistryFailure]

export class RegistryError extends Error {
  override readonly name = 'RegistryError'
  readonly failure: RegistryFailure
  /** The HTTP status of the registry's answer. It is undefined if there was no answer. */
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
