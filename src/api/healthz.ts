import { Router } from '@koa/router'
import { databaseAnswers } from './database-check.ts'
import type { ApiDeps } from './deps.ts'
import type { RequestState } from './request-state.ts'

/**
 * The health of the API in the envelope that newer clients read, for every token. `/healthz` is for probes,
 * which have none.
 */
export function healthzRouter(deps: Pick<ApiDeps, 'database'>): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true })
  router.get('/v1/healthz', async (ctx) => {
    ctx.state.route = '/v1/healthz'
    const database = (await databaseAnswers(deps.database)) ? 'healthy' : 'degraded'
    ctx.body = { status: 'success', data: { checks: { database } } }
  })
  return router
}
