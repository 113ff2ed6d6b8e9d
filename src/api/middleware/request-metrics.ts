import type { ApiMetrics } from '../api-metrics.ts'
import type { ApiMiddleware } from '../request-state.ts'

/** Counts and times requests by route, never by path, because paths have identifiers in them. */
export function requestMetrics(metrics: ApiMetrics): ApiMiddleware {
  return async (ctx, next) => {
    const begin = performance.now()
    metrics.inFlight.inc()
    try {
      await next()
    } finally {
      metrics.inFlight.dec()
      const route = ctx.state.route ?? 'none'
      metrics.requests.inc({ route, status: String(ctx.status) })
      metrics.durations.observe({ route }, (performance.now() - begin) / 1_000)
    }
  }
}
