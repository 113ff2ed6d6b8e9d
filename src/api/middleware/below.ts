import type { ApiMiddleware } from '../request-state.ts'

/** Applies a middleware to the paths below a prefix only. */
export function below(prefix: string, middleware: ApiMiddleware): ApiMiddleware {
  return async (ctx, next) => {
    const applies = ctx.path === prefix || ctx.path.startsWith(`${prefix}/`)
    await (applies ? middleware(ctx, next) : next())
  }
}
