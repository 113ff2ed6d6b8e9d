import type { components } from './api-types.ts'

type RequestFailure = components['schemas']['RequestFailure']

/** What is known of a failure, as far as the API has said it. */
export interface FailureFacts {
  /** The HTTP status. Absent if no answer came. */
  readonly httpStatus?: number
  /** The numeric code of the API's error catalogue. Absent if the answer is not the API's. */
  readonly code?: number
  /** The name, or else the UUID, of the object that failed. Absent if the request as a whole failed. */
  readonly object?: string
  /** The state of that object, if the failure is about its state. */
  readonly state?: string
  readonly requestId?: string
  /** The seconds after which the API wants to be asked again. */
  readonly retryAfterS?: number
  readonly cause?: unknown
}

/**
 * A call has not done what it was asked for: there was no answer, the request as a whole failed, or one of
 * its objects did. The message is a sentence for a person, without the token.
 */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  readonly facts: FailureFacts

  constructor(message: string, facts: FailureFacts = {}) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause })
    this.facts = facts
  }
}

/** The codes of failures that programs treat in a way of their own. */
export const FailureCode = {
  NotFound: 8,
  TimedOut: 12,
  NotAllowed: 14,
} as const

/** The most characters of an answer that is not the API's which its message shows. */
const maxShownCharacters = 200

/** Reads the answer to a request that failed as a whole. */
export async function failureOf(response: Response): Promise<ApiFailure> {
  const text = await response.text().catch(() => '')
  const facts = {
    httpStatus: response.status,
    ...present('requestId', response.headers.get('x-request-id')),
    ...present('retryAfterS', secondsOf(response.headers.get('retry-after'))),
  }
  const failure = requestFailureIn(text)
  if (failure !== undefined) {
    return new ApiFailure(failure.message, { ...facts, ...present('code', failure.errors[0]?.error) })
  }
  const shown = text.replaceAll(/\s+/g, ' ').trim().slice(0, maxShownCharacters)
  const status = `${response.status} ${response.statusText}`.trim()
  return new ApiFailure(
    `${originOf(response.url)} answered ${status}${shown === '' ? '' : `: ${shown}`}`,
    facts,
  )
}

/** The failure of a request to which no answer came. */
export function withoutAnswer(address: string, error: unknown): ApiFailure {
  return new ApiFailure(`${originOf(address)} does not answer: ${reasonOf(error)}`, { cause: error })
}

/** `fetch` says only that it failed; the reason is in the cause, which may hold several tries. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return error.message
}

function requestFailureIn(text: string): RequestFailure | undefined {
  try {
    const value = JSON.parse(text) as Partial<RequestFailure> | null
    const isFailure = typeof value?.message === 'string' && Array.isArray(value.errors)
    return isFailure ? (value as RequestFailure) : undefined
  } catch {
    return undefined
  }
}

function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : undefined
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}

function present<Key extends string, Value>(key: Key, value: Value | null | undefined) {
  return (value === null || value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: Value }
}
