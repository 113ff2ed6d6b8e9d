import { Router } from '@koa/router'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { RequestError, requestError } from '../../contract/errors.ts'
import { closed } from '../../contract/fields.ts'
import { problemsOf } from '../../contract/request/validation-problems.ts'
import { strictValidator } from '../../contract/request/validators.ts'
import { gatewayCountsPath } from '../../domain/host/control-role.ts'
import type { ApiDeps } from '../deps.ts'
import { readBody } from '../middleware/read-body.ts'
import { isFromControl } from '../remote/admitted-hosts.ts'
import type { RequestState } from '../request-state.ts'

const maxServices = 10_000
const countsSchema = closed({
  services: Type.Array(Type.String({ format: 'uuid' }), { maxItems: maxServices }),
})
const validateCounts = strictValidator(countsSchema)

/**
 * Tells APIs and workers on other machines what the gateways beside this API have counted, because these
 * listen for nobody else.
 */
export function gatewaysRouter(deps: ApiDeps): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true })
  router.post(gatewayCountsPath, readBody(), async (ctx) => {
    ctx.state.route = 'internal.gateway-counts'
    if (!isFromControl(ctx.req)) throw requestError('noEndpoint', { path: ctx.path })
    const services = servicesIn(ctx.state.body)
    const onSilent = (error: Error): void => deps.log.warn({ err: error }, 'a gateway does not answer')
    ctx.body = { gateways: await deps.parts.readTrafficHere(services, onSilent) }
  })
  return router
}

function servicesIn(body: unknown): readonly string[] {
  const wanted = { place: 'the request', prefix: '', schema: countsSchema }
  const problems = problemsOf(validateCounts(body), wanted)
  if (problems.length > 0) throw new RequestError(problems)
  return (body as Static<typeof countsSchema>).services
}
