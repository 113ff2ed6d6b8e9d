import { RequestError, problem } from '../../contract/errors.ts'
import { isFromPublic } from '../remote/admitted-hosts.ts'
import type { ApiMiddleware } from '../request-state.ts'

/** The paths for hosts, gateways and scrapers, which are only for the network of the parts. */
const unpublished = /^\/(internal|metrics)(\/|$)/

/**
 * Refuses the paths that are for other parts if a client requests them by a public name of the API, whatever
 * secret it has. The gateway writes the requested name into `X-Forwarded-Host`, and drops what a client
 * wrote there. The connection of a gateway that joined says it as well.
 */
export function publishedPaths(publicNames: readonly string[]): ApiMiddleware {
  return async (ctx, next) => {
    const isPublic = isFromPublic(ctx.req) || publicNames.includes(nameIn(ctx.get('X-Forwarded-Host')))
    if (unpublished.test(ctx.path) && isPublic) {
      throw new RequestError([problem('noEndpoint', { path: ctx.path })])
    }
    await next()
  }
}

export function nameIn(authority: string): string {
  return authority.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')
}
