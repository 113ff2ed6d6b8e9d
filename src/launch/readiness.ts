import { setTimeout as delay } from 'node:timers/promises'

const pollMs = 50
/**
 * How long one attempt waits for an answer. A part that accepts a connection and never answers must not stop
 * the polling.
 */
const answerLimitMs = 2_000

/**
 * Resolves when `attempt` first succeeds. Rejects when `signal` aborts, with the last failure as the cause.
 */
export async function untilSucceeds(attempt: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await attempt()
      return
    } catch (cause) {
      if (signal.aborted)
        throw signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause })
      await delay(pollMs, undefined, { signal }).catch(() => {
        throw new Error(cause instanceof Error ? cause.message : 'not ready', { cause })
      })
    }
  }
}

/** Resolves when `url` answers with one of `statuses`. */
export function untilAnswers(
  url: string,
  signal: AbortSignal,
  statuses: readonly number[] = [200],
): Promise<void> {
  return untilSucceeds(async () => {
    const answer = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(answerLimitMs)]) })
    await answer.body?.cancel()
    if (!statuses.includes(answer.status)) throw new Error(`${url} answers ${answer.status}`)
  }, signal)
}
