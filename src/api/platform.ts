import { Router } from '@koa/router'
import { openApiDocument } from '../contract/openapi/openapi.ts'
import { failureBody } from './middleware/error-envelope.ts'
import { problem, requestError } from '../contract/errors.ts'
import { databaseAnswers } from './database-check.ts'
import type { ApiDeps } from './deps.ts'
import type { RequestState } from './request-state.ts'

/**
 * The endpoints beside the API's own: for probes, for scrapers, for readers of the OpenAPI document, and for
 * clients of the registry.
 */
export function platformRouter(deps: ApiDeps): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true })
  const document = openApiDocument()

  router.get('/healthz', (ctx) => {
    ctx.state.route = '/healthz'
    ctx.body = { status: 'ok' }
  })

  router.get('/readyz', async (ctx) => {
    ctx.state.route = '/readyz'
    if (deps.stopping.aborted || !(await databaseAnswers(deps.database))) throw requestError('unavailable')
    ctx.body = { status: 'ok' }
  })

  router.get('/openapi.json', (ctx) => {
    ctx.state.route = '/openapi.json'
    ctx.body = document
  })

  router.get('/metrics', async (ctx) => {
    ctx.state.route = '/metrics'
    ctx.type = deps.metrics.registry.contentType
    ctx.body = await deps.metrics.registry.metrics()
  })

  router.get('/registry/token', async (ctx) => {
    ctx.state.route = '/registry/token'
    const query = new URLSearchParams(ctx.querystring)
    const answer = await deps.registry.answer({
      authorization: ctx.get('Authorization') || undefined,
      service: query.get('service') ?? undefined,
      scopes: query.getAll('scope'),
    })
    ctx.status = answer.status
    if ('body' in answer) {
      ctx.body = answer.body
    } else {
      if (answer.status === 401) ctx.set('WWW-Authenticate', 'Basic realm="registry"')
      const wrong = problem(answer.status === 401 ? 'unauthenticated' : 'badRequest')
      ctx.body = failureBody([{ ...wrong, message: answer.message }])
    }
  })
  return router
}
