import type { ApiMiddleware } from '../request-state.ts'

/**
 * Writes each JSON answer as one line with a line end, so that a prompt or the next answer begins on a new
 * line. The body is bytes and no text, because Node sends a long text by way of a buffer three times its
 * length.
 */
export function jsonText(): ApiMiddleware {
  return async (ctx, next) => {
    await next()
    if (typeof ctx.body !== 'object' || ctx.body === null || Buffer.isBuffer(ctx.body)) return
    ctx.type = 'application/json'
    ctx.body = Buffer.from(`${JSON.stringify(ctx.body)}\n`)
  }
}
