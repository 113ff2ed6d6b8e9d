import type { ApiMiddleware } from '../request-state.ts'

/** Probes and scrapes come every few seconds and say nothing. */
const quietRoutes: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics', 'internal.heartbeat'])

/** One line per request, once it is answered. Neither bodies nor header values are logged. */
export function accessLog(): ApiMiddleware {
  return async (ctx, next) => {
    const begin = performance.now()
    try {
      await next()
    } finally {
      const { route, identity, log } = ctx.state
      const line = {
        method: ctx.method,
        path: ctx.path,
        status: ctx.status,
        durationMs: Math.round(performance.now() - begin),
        ...(route === undefined ? {} : { route }),
        ...(identity === undefined ? {} : { user: identity.userName }),
      }
      log[route !== undefined && quietRoutes.has(route) ? 'debug' : 'info'](line, 'request')
    }
  }
}
