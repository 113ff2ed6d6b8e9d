import createClient from 'openapi-fetch'
import type { Client } from 'openapi-fetch'
import { ApiFailure, failureOf, withoutAnswer } from './api-failure.ts'
import type { paths } from './api-types.ts'

/** Where an API is, and as whom it is asked. */
export interface ApiAccess {
  /** The address of the installation, such as `https://api.example.com`. */
  readonly address: string
  /** Absent in the console, whose session is in a cookie. */
  readonly token?: string
  /** Sends the requests. Absent: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

/**
 * A client of the API. `GET`, `POST`, `PUT`, `PATCH` and `DELETE` take a path of the API and are typed by
 * its contract. They throw `ApiFailure` if no answer came or the request as a whole failed; `answers.ts`
 * reads the entries of the answer.
 */
export type ApiClient = Client<paths, 'application/json'>

export function createApiClient(access: ApiAccess): ApiClient {
  const send = access.fetch ?? globalThis.fetch
  const client = createClient<paths, 'application/json'>({
    baseUrl: baseAddress(access.address),
    headers: headersOf(access),
    fetch: (request) => send(request),
  })
  client.use({
    onResponse: async ({ response, schemaPath }) => {
      if (!response.ok) throw await failureOf(response)
      if (schemaPath.startsWith('/v1/') && !isJson(response)) throw notTheApi(response)
      return undefined
    },
    onError: ({ error, request }) =>
      isAborted(error) ? (error as Error) : withoutAnswer(request.url, error),
  })
  return client
}

/** The headers of every request. */
export function headersOf({ token }: Pick<ApiAccess, 'token'>): Readonly<Record<string, string>> {
  return { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), accept: 'application/json' }
}

/** The address without the `/v1` with which people may write it, and without slashes at its end. */
export function baseAddress(address: string): string {
  return address.replace(/\/+$/, '').replace(/\/v1$/, '')
}

/** Whether the caller itself has ended the request. */
export function isAborted(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function isJson(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('application/json') === true
}

function notTheApi({ url, status }: Response): ApiFailure {
  const message = `${new URL(url).origin} does not answer like the API of an installation; is the address right?`
  return new ApiFailure(message, { httpStatus: status })
}
