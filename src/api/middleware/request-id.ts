import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { ApiMiddleware } from '../request-state.ts'

/** What a client may choose, so that its own logs and ours meet: short and harmless in a log line. */
const acceptable = /^[\w.:-]{1,64}$/

/** Gives every request an id, the client's where it is sane, and a logger that carries it. */
export function requestId(log: Logger): ApiMiddleware {
  return async (ctx, next) => {
    const given = ctx.get('X-Request-Id')
    const id = acceptable.test(given) ? given : randomUUID()
    ctx.state.requestId = id
    ctx.state.log = log.child({ requestId: id })
    ctx.set('X-Request-Id', id)
    await next()
  }
}
