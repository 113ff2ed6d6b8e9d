import type { ApiMiddleware } from '../request-state.ts'

/**
 * Routes that are logged at debug level only: those of probes, scrapes, heartbeats and the console's files.
 * They are requested all the time and tell a reader nothing.
 */
const quietRoutes: ReadonlySet<string> = new Set([
  '/healthz',
  '/readyz',
  '/metrics',
  '/console/assets',
  'internal.heartbeat',
])

/** Logs one line per request after it is answered. Neither bodies nor header values are logged. */
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
