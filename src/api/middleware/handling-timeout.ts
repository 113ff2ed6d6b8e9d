import { requestError } from '../../contract/errors.ts'
import type { ApiContext } from '../request-state.ts'

/**
 * Runs `work` with a signal that aborts when the time is up, when the client goes away, or when the server
 * stops. When the time is up the client is answered at once, whether or not the work listens to its signal.
 */
export async function withinTime<T>(
  ctx: ApiContext,
  options: { readonly timeoutMs: number; readonly stopping: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController()
  const end = () => ended.abort()
  ctx.res.once('close', end)
  const timer = Promise.withResolvers<never>()
  const timeout = setTimeout(() => timer.reject(requestError('handlingTimeout')), options.timeoutMs)
  try {
    return await Promise.race([work(AbortSignal.any([ended.signal, options.stopping])), timer.promise])
  } finally {
    clearTimeout(timeout)
    ctx.res.off('close', end)
    ended.abort()
  }
}
