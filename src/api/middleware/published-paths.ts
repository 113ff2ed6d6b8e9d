import { RequestError, problem } from '../../contract/errors.ts'
import type { ApiMiddleware } from '../request-state.ts'

/** What hosts, gateways and scrapers ask for in the network of the parts. */
const unpublished = /^\/(internal|metrics)(\/|$)/

/**
 * Through the public name nobody reaches what is meant for other parts, whatever secret he has: the gateway
 * says in `X-Forwarded-Host` by which name it was asked, and takes what a client says there for nothing.
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
