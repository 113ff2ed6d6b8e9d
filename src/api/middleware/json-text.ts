import type { ApiMiddleware } from '../request-state.ts'

/**
 * Writes JSON answers as one line with an end, so that a prompt or the next answer does not stand behind it.
 */
export function jsonText(): ApiMiddleware {
  return async (ctx, next) => {
    await next()
    if (typeof ctx.body !== 'object' || ctx.body === null) return
    ctx.body = `${JSON.stringify(ctx.body)}\n`
    ctx.type = 'application/json'
  }
}
