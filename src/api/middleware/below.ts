import type { ApiMiddleware } from '../request-state.ts'

/** Applies a middleware to the paths below some prefixes only. */
export function below(prefixes: readonly string[], middleware: ApiMiddleware): ApiMiddleware {
  return async (ctx, next) => {
    const applies = prefixes.some((prefix) => ctx.path === prefix || ctx.path.startsWith(`${prefix}/`))
    await (applies ? middleware(ctx, next) : next())
  }
}
