import type { ServerResponse } from 'node:http'
import { maxWaitMs } from '../contract/limits.ts'
import type { Operation } from '../contract/operation.ts'
import { reservedObjectNames } from '../contract/operations.ts'
import { entriesFor } from '../contract/request/inclusive-cursor.ts'
import { requestParser } from '../contract/request/parser.ts'
import { answerEnvelope } from './answer-envelope.ts'
import type { Handler } from './call.ts'
import type { ChangePace } from './change-pace.ts'
import type { ApiDeps } from './deps.ts'
import { explanationAnswer } from './explanation-answer.ts'
import { withinTime } from './middleware/handling-timeout.ts'
import { askerOf, identityOf } from './request-state.ts'
import type { ApiContext, ApiMiddleware } from './request-state.ts'
import { refuseForbidden } from './token-check.ts'
import { asksForWebSocket } from './web-socket-request.ts'

interface PathParameters {
  readonly owner?: string
  readonly object?: string
}

/**
 * The endpoint of an operation, in local and global scope: checks that the token permits the operation,
 * parses the request, handles it within its time limit, and puts the answer into the envelope.
 */
export function operationEndpoint<O extends Operation>(
  operation: O,
  handler: Handler<O>,
  deps: Pick<ApiDeps, 'settings' | 'stopping'> & { readonly changePace: ChangePace },
): ApiMiddleware {
  const parse = requestParser(operation)
  const { handlingTimeoutMs } = deps.settings
  const timeoutMs = operation.waits ? handlingTimeoutMs + maxWaitMs : handlingTimeoutMs
  return async (ctx, next) => {
    const { owner, object } = (ctx as { readonly params?: PathParameters }).params ?? {}
    const named = owner ?? object
    if (named !== undefined && reservedObjectNames.has(named)) {
      // In `GET /v1/instances/start` the word `start` is a part of the API, and never the name of an
      // instance.
      await next()
      return
    }
    ctx.state.route = operation.id
    const identity = identityOf(ctx)
    refuseForbidden(identity, operation)
    const { body } = ctx.state
    const request = parse({
      query: ctx.querystring,
      userAgent: ctx.get('User-Agent'),
      ...(owner === undefined ? {} : { owner }),
      ...(object === undefined ? {} : { object }),
      ...(body === undefined ? {} : { body }),
    })
    deps.changePace.admit(identity.userUuid, operation, request.objects)
    const answer = await withinTime(ctx, { timeoutMs, stopping: deps.stopping }, (signal) =>
      handler(request, {
        identity,
        asker: askerOf(ctx),
        accept: ctx.get('Accept'),
        asksForWebSocket: asksForWebSocket(ctx.req),
        ...lastEventIdOf(ctx),
        stillValid: async () => (await ctx.state.stillValid?.()) ?? false,
        signal,
        log: ctx.state.log,
      }),
    )
    if ('stream' in answer) {
      await sendStream(ctx, answer.stream)
      return
    }
    ctx.status = 200
    if ('text' in answer) {
      ctx.type = answer.contentType
      ctx.body = answer.text
      return
    }
    const text = explanationAnswer(operation, ctx.get('Accept'), answer.entries)
    if (text !== undefined) ctx.type = 'text/plain; charset=utf-8'
    ctx.body = text ?? answerEnvelope(operation.dataKey, entriesFor(request.page, answer.entries))
  }
}

/** From its first byte or from its upgrade on, a stream is written without Koa, until the client ends it. */
async function sendStream(
  ctx: ApiContext,
  stream: (response: ServerResponse) => Promise<void>,
): Promise<void> {
  // A stream has a place of its own, so it does not count as a request that is under way.
  ctx.state.leave?.()
  try {
    await stream(ctx.res)
  } finally {
    // A response without a socket has lost it to a WebSocket, or with its client.
    const isUpgraded = !ctx.res.headersSent && ctx.res.socket === null
    if (isUpgraded) ctx.status = 101
    if (ctx.res.headersSent || isUpgraded) ctx.respond = false
  }
}

/** The id in the header `Last-Event-ID`. A text that is no id counts as none. */
function lastEventIdOf(ctx: ApiContext): { readonly lastEventId?: number } {
  const text = ctx.get('Last-Event-ID')
  return /^\d{1,15}$/.test(text) ? { lastEventId: Number(text) } : {}
}
