import type { RouterMiddleware } from '@koa/router'
import { requestError } from '../../contract/errors.ts'
import { isNodeSecret } from '../../db/host/hosts.ts'
import type { NodesDeps } from '../../db/host/hosts.ts'
import { sameSecret } from '../../db/same-secret.ts'
import { bearerToken } from '../middleware/authenticate.ts'
import { gatewayBehind, hostBehind } from '../remote/admitted-hosts.ts'
import type { RequestState } from '../request-state.ts'

type HostMiddleware = RouterMiddleware<RequestState>

/** The form of a node's id. It is restricted because the id is part of queue names and log lines. */
const nodeIdPattern = /^[\w.-]{1,64}$/

export function isNodeId(text: string | undefined): text is string {
  return text !== undefined && nodeIdPattern.test(text)
}

/**
 * Admits agents with the join token, and hosts that the certificate of their connection names. The secret in
 * the heartbeat then decides to which agent an id belongs.
 */
export function requireJoinToken(joinToken: string): HostMiddleware {
  const requireToken = requireSecret(joinToken)
  return async (ctx, next) => {
    const hostId = hostBehind(ctx.req)
    if (hostId !== undefined && hostId === ctx.params['node']) await next()
    else await requireToken(ctx, next)
  }
}

/** Admits the parts beside the API, which share a token. */
export function requireGatewayToken(gatewayToken: string): HostMiddleware {
  return requireSecret(gatewayToken)
}

/**
 * Admits gateways beside the API, and those that the certificate of their connection names. They get the
 * services of all users, and certificates with their keys.
 */
export function requireGateway(gatewayToken: string): HostMiddleware {
  const requireToken = requireSecret(gatewayToken)
  return async (ctx, next) => {
    if (gatewayBehind(ctx.req) !== undefined) await next()
    else await requireToken(ctx, next)
  }
}

function requireSecret(secret: string): HostMiddleware {
  return async (ctx, next) => {
    const token = bearerToken(ctx.get('Authorization'))
    if (secret === '' || token === undefined || !sameSecret(token, secret)) throw unauthenticated()
    await next()
  }
}

/** Admits only the agent to which the id in the path belongs. */
export function requireNodeSecret(deps: NodesDeps): HostMiddleware {
  return async (ctx, next) => {
    const secret = bearerToken(ctx.get('Authorization'))
    const nodeId = ctx.params['node']
    if (secret === undefined || !isNodeId(nodeId) || !(await isNodeSecret(deps, nodeId, secret))) {
      throw unauthenticated()
    }
    await next()
  }
}

function unauthenticated() {
  return requestError('unauthenticated', {}, { 'WWW-Authenticate': 'Bearer' })
}
