import { request } from 'undici'
import { isJsonObject, parseJson } from '../domain/json-text.ts'
import { RegistryError, RegistryFailure } from './registry-error.ts'
import { registryService } from './registry-config.ts'
import { readBody } from './registry-http.ts'
import type { RegistryTokenSource } from './registry-http.ts'

const requestTimeoutMs = 10_000
const maxAnswerBytes = 65_536

/** Gets registry tokens in exchange for a user's own token, as any client of the registry does. */
export function userTokens(options: {
  readonly tokenUrl: string
  readonly token: string
}): RegistryTokenSource {
  const authorization = basicFor(options.token)
  return async (repository) => {
    const url = new URL(options.tokenUrl)
    url.searchParams.set('service', registryService)
    url.searchParams.set('scope', `repository:${repository}:pull,push`)
    const response = await request(url, {
      headers: { authorization },
      headersTimeout: requestTimeoutMs,
      bodyTimeout: requestTimeoutMs,
    }).catch((error: unknown) => {
      throw new RegistryError(RegistryFailure.Unavailable, `${url.origin} does not answer`, { cause: error })
    })
    const body = await readBody(response, maxAnswerBytes, 'the answer to the token request')
    const json = response.statusCode === 200 ? parseJson(body.toString('utf8')) : undefined
    const token = isJsonObject(json) ? json['token'] : undefined
    if (typeof token === 'string') return token
    throw new RegistryError(RegistryFailure.Denied, `${url.origin} gives no token for '${repository}'`)
  }
}

/** The API's tokens are base64 of `<user>:<secret>`, which is what the Basic header holds. */
function basicFor(token: string): string {
  const pair = Buffer.from(token, 'base64').toString('utf8')
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
