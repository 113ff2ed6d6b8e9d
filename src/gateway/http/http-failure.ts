/** A request that is answered by the gateway itself, with a status and a sentence for people. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
  readonly status: number
  readonly retryAfterMs: number | undefined

  constructor(status: number, message: string, options: { readonly retryAfterMs?: number } = {}) {
    super(message)
    this.status = status
    this.retryAfterMs = options.retryAfterMs
  }
}
