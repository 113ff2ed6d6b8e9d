import { setTimeout as delay } from 'node:timers/promises'
import { one } from '../../client/answers.ts'
import { ApiFailure, FailureCode } from '../../client/api-failure.ts'
import type { Session } from '../session.ts'

const oneWaitMs = 60_000
/** How long a tunnel waits after a look that failed, or that found the instance on its way. */
const pauseMs = 2_000

/**
 * Resolves with a sentence once the instance is stopped or deleted. A tunnel goes on while the API does not
 * answer: it may only be restarting.
 */
export async function awaitEnd(
  { client }: Session,
  { uuid, name }: { readonly uuid: string; readonly name: string },
  signal: AbortSignal,
): Promise<string> {
  const path = { object: uuid }
  for (;;) {
    try {
      const query = { state: 'stopped' as const, timeout_ms: oneWaitMs }
      await client.GET('/v1/instances/{object}/wait', { params: { path, query }, signal })
      const { state } = one(await client.GET('/v1/instances/{object}', { params: { path }, signal }))
      if (state === 'stopped') return `${name} is stopped`
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ApiFailure)) throw error
      if (error.facts.code === FailureCode.NotFound) return `${name} is deleted`
      await delay(pauseMs, undefined, { signal })
    }
  }
}
