import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { ApiMiddleware } from '../request-state.ts'

/**
 * The form of an id that a client may choose, so that its logs and ours can be compared. Such an id is short
 * and harmless in a log line.
 */
const acceptable = /^[\w.:-]{1,64}$/

/** Gives every request an id, and a logger that writes it. A client's own id is used if it is acceptable. */
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
