import { atPlace, isTracing, soundTraceparent } from '../../primitives/traces.ts'
import type { Tracer } from '../../primitives/traces.ts'
import type { ApiMiddleware } from '../request-state.ts'

/**
 * Makes a span of each request of the published API, named by its operation. The caller's `traceparent` is
 * continued. Paths, tokens and bodies stay out of it.
 */
export function requestTrace(tracer: Tracer | undefined): ApiMiddleware {
  return async (ctx, next) => {
    const parent = soundTraceparent(ctx.get('traceparent'))
    if (tracer === undefined || !isTracing()) {
      await next()
      return
    }
    // Other paths are asked by hosts and gateways, again and again. They only continue a trace.
    if (parent === undefined && !ctx.path.startsWith('/v1/')) {
      await next()
      return
    }
    const span = tracer.begin({ name: 'api', kind: 'server', parent })
    try {
      await atPlace(span.traceparent, next)
    } finally {
      span.end({
        name: ctx.state.route,
        failed: ctx.status >= 500,
        attributes: { 'http.response.status_code': ctx.status },
      })
    }
  }
}
