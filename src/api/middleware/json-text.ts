import type { ApiMiddleware } from '../request-state.ts'

/**
 * Writes each JSON answer as one line with a line end, so that a prompt or the next answer begins on a new
 * line.
 */
export function jsonText(): ApiMiddleware {
  return async (ctx, next) => {
    await next()
    if (typeof ctx.body !== 'object' || ctx.body === null) return
    ctx.body = `${JSON.stringify(ctx.body)}\n`
    ctx.type = 'application/json'
  }
}
