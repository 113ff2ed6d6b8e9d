import { Router } from '@koa/router'
import type { RouterMiddleware } from '@koa/router'
import { Type } from 'typebox'
import { requestError } from '../../contract/errors.ts'
import { closed } from '../../contract/fields.ts'
import { PartUnreachable } from '../../control/part-client.ts'
import { gatewayCountsPath, partsBesideMetricsPath, partsBesidePath } from '../../domain/host/control-role.ts'
import type { ApiDeps } from '../deps.ts'
import { metricsContentType } from '../metrics-text.ts'
import { readBody } from '../middleware/read-body.ts'
import { isFromControl } from '../remote/admitted-hosts.ts'
import type { RequestState } from '../request-state.ts'
import { messageReader } from './message-reader.ts'

const maxServices = 10_000
const countsSchema = closed({
  services: Type.Array(Type.String({ format: 'uuid' }), { maxItems: maxServices }),
})
export const readCountsRequest = messageReader(countsSchema, 'the request')

/**
 * Tells APIs and workers on other machines of the parts beside this API, because these listen for nobody
 * else: what gateways have counted, and the metrics.
 */
export function partsBesideRouter(deps: ApiDeps): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true })
  const forControl: RouterMiddleware<RequestState> = async (ctx, next) => {
    if (!isFromControl(ctx.req)) throw requestError('noEndpoint', { path: ctx.path })
    await next()
  }
  router.get(partsBesidePath, forControl, (ctx) => {
    ctx.state.route = 'internal.parts-beside'
    ctx.body = { parts: deps.parts.placesHere }
  })
  router.get(partsBesideMetricsPath, forControl, async (ctx) => {
    ctx.state.route = 'internal.parts-beside-metrics'
    const query = new URLSearchParams(ctx.querystring)
    const [part, name] = [query.get('part') ?? '', query.get('name') ?? '']
    const place = deps.parts.placesHere.find((each) => each.part === part && each.name === name)
    if (place === undefined) throw requestError('noPart', { part, name })
    ctx.type = metricsContentType
    ctx.body = await deps.parts.readMetrics(place).catch((error: unknown) => {
      throw error instanceof PartUnreachable ? requestError('partUnreachable', { part, name }) : error
    })
  })
  router.post(gatewayCountsPath, forControl, readBody(), async (ctx) => {
    ctx.state.route = 'internal.gateway-counts'
    const { services } = readCountsRequest(ctx.state.body)
    const onSilent = (error: Error): void => deps.log.warn({ err: error }, 'a gateway does not answer')
    ctx.body = { gateways: await deps.parts.readTrafficHere(services, onSilent) }
  })
  return router
}
