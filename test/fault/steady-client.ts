import { setTimeout as delay } from 'node:timers/promises'
import type { PublicAnswer, PublicNames } from '../support/public-names.ts'

const retryMs = 30
const patienceMs = 60_000

/** Asks as a careful client does: it repeats a request whose connection broke, and returns any answer. */
export async function askSteadily(
  names: PublicNames,
  url: string,
  onRetry: () => void = () => undefined,
): Promise<PublicAnswer> {
  const deadlineMs = performance.now() + patienceMs
  for (;;) {
    try {
      return await names.get(url, { limitMs: patienceMs, headers: { accept: 'application/json' } })
    } catch (error) {
      if (!isBroken(error) || performance.now() > deadlineMs) {
        throw new Error(`${url} was not answered: ${String(error)}`, { cause: error })
      }
      onRetry()
      await delay(retryMs)
    }
  }
}

/**
 * Tells whether the connection broke. A time limit that passed does not count: an answer that never comes is
 * a lost request.
 */
function isBroken(error: unknown): boolean {
  const code = (error as { readonly code?: string }).code ?? ''
  return ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(code)
}
