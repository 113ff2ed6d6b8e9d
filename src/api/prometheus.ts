import { Router } from '@koa/router'
import { TokenScope } from '../domain/account/token-scope.ts'
import { PlatformPart } from '../domain/platform-part.ts'
import { requestError } from '../contract/errors.ts'
import { NodeUnavailable } from '../control/host-client.ts'
import { PartUnreachable } from '../control/part-client.ts'
import { heartbeatAges } from '../db/host/hosts.ts'
import type { ApiDeps } from './deps.ts'
import { metricsContentType } from './metrics-text.ts'
import { identityOf } from './request-state.ts'
import type { ApiContext, ApiMiddleware, RequestState } from './request-state.ts'
import { refuseForbidden } from './token-check.ts'

/** A group of targets in the form of Prometheus' HTTP service discovery. */
interface TargetGroup {
  readonly targets: readonly [address: string]
  readonly labels: Readonly<Record<string, string>>
}

const metricsPath = '/platform/metrics'

/**
 * The metrics of all parts of the platform at one address, for the administrator's Prometheus. The parts
 * themselves tell their metrics to everybody who reaches them, so most listen only on their own machine. The
 * API lists all of them as targets at its own address, and fetches from a part what it is asked for.
 */
export function prometheusRouter(deps: ApiDeps): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true })

  router.get('/platform/targets', forAdministrators('/platform/targets'), async (ctx) => {
    ctx.body = await listTargets(deps, ctx)
  })

  router.get(metricsPath, forAdministrators(metricsPath), async (ctx) => {
    const query = new URLSearchParams(ctx.querystring)
    ctx.type = metricsContentType
    ctx.body = await readMetrics(deps, {
      part: query.get('part') ?? '',
      name: query.get('name') ?? '',
    })
  })
  return router
}

/**
 * Lets only tokens pass that may read metrics, belong to an administrator and are not limited to services.
 */
function forAdministrators(route: string): ApiMiddleware {
  return async (ctx, next) => {
    ctx.state.route = route
    const identity = identityOf(ctx)
    refuseForbidden(identity, { tokenScopes: [TokenScope.Metrics], withinServices: false })
    if (!identity.admin) throw requestError('administratorNeeded')
    await next()
  }
}

async function listTargets(deps: ApiDeps, ctx: ApiContext): Promise<readonly TargetGroup[]> {
  const [hosts, parts] = await Promise.all([heartbeatAges(deps.database), deps.parts.places()])
  const places = [
    ...parts.map(({ part, name }) => ({ part, name })),
    ...hosts.map(({ id }) => ({ part: PlatformPart.Agent, name: id })),
  ]
  // The gateway says under which name it was asked for the API. Whoever asks gets the address that it used.
  const address = ctx.get('X-Forwarded-Host') || ctx.get('Host')
  if (address === '') throw requestError('badRequest')
  const scheme = ctx.get('X-Forwarded-Proto') === 'https' ? 'https' : 'http'
  return places.map(({ part, name }) => ({
    targets: [address],
    labels: {
      part,
      // Without it, all targets would have the address of the API as their instance.
      instance: name,
      __scheme__: scheme,
      __metrics_path__: metricsPath,
      __param_part: part,
      __param_name: name,
    },
  }))
}

async function readMetrics(
  deps: ApiDeps,
  { part, name }: { readonly part: string; readonly name: string },
): Promise<string> {
  try {
    if (part === PlatformPart.Agent) {
      const isKnown = (await heartbeatAges(deps.database)).some(({ id }) => id === name)
      if (!isKnown) throw requestError('noPart', { part, name })
      return await deps.nodes.readMetrics(name)
    }
    const place = (await deps.parts.places()).find((each) => each.part === part && each.name === name)
    if (place === undefined) throw requestError('noPart', { part, name })
    return await deps.parts.readMetrics(place)
  } catch (error) {
    if (error instanceof NodeUnavailable || error instanceof PartUnreachable)
      throw requestError('partUnreachable', { part, name })
    throw error
  }
}
