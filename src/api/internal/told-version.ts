import type { RouterMiddleware } from '@koa/router'
import { otherVersion, protocolHeader, versionRefusal } from '../../domain/protocols.ts'
import type { Protocol } from '../../domain/protocols.ts'
import type { RequestState } from '../request-state.ts'

/** Refuses callers that speak a version of this wire that the API does not understand. */
export function requireVersion(
  wire: Protocol,
  peerOf: (params: Readonly<Record<string, string | undefined>>) => string,
): RouterMiddleware<RequestState> {
  return async (ctx, next) => {
    const told = ctx.req.headers[protocolHeader]
    const refusal = versionRefusal(wire, told?.toString(), { peer: peerOf(ctx.params), own: 'the API' })
    if (refusal === undefined) {
      await next()
      return
    }
    ctx.status = otherVersion
    ctx.body = { message: refusal }
  }
}
