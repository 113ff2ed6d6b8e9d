import { RequestError, problem } from '../../contract/errors.ts'
import type { ApiMiddleware } from '../request-state.ts'

/** The paths for hosts, gateways and scrapers, which are only for the network of the parts. */
const unpublished = /^\/(internal|metrics)(\/|$)/

/**
 * Refuses the paths that are for other parts if a client requests them by the API's public name, whatever
 * secret it has. The gateway writes the requested name into `X-Forwarded-Host`, and drops what a client
 * wrote there.
 */
export function publishedPaths(publicName: string): ApiMiddleware {
  return async (ctx, next) => {
    if (unpublished.test(ctx.path) && nameIn(ctx.get('X-Forwarded-Host')) === publicName) {
      throw new RequestError([problem('noEndpoint', { path: ctx.path })])
    }
    await next()
  }
}

function nameIn(authority: string): string {
  return authority.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')
}
