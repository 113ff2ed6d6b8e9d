import { endSession } from '../account/session.ts'
import { ApiFailure } from '../../src/client/api-failure.ts'
import { createApiClient } from '../../src/client/client.ts'
import type { ApiAccess } from '../../src/client/client.ts'

const unauthenticated = 401

/** The API of the very origin that the page came from; the session's cookie goes with each request. */
export const access: ApiAccess = {
  address: location.origin,
  async fetch(...request) {
    const response = await fetch(...request)
    if (response.status === unauthenticated) endSession()
    return response
  },
}

export const api = createApiClient(access)

/** What went wrong, as a sentence. The API's own sentences say what to do next. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiFailure) {
    if (error.facts.httpStatus !== undefined) return error.message
    return 'The API does not answer. Try again in a moment; what was asked for may have happened all the same.'
  }
  return error instanceof Error ? error.message : String(error)
}

/** Whether the session is over, in which case the page shows the sign-in and nothing more. */
export function isSessionEnd(error: unknown): boolean {
  return error instanceof ApiFailure && error.facts.httpStatus === unauthenticated
}
