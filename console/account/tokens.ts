import { entriesOf, isFailed, one, succeeded } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import type { components } from '../../src/client/api-types.ts'
import { OnDemand } from '../event/on-demand.ts'
import { api, isSessionEnd, sentenceOf } from '../frame/api.ts'
import { say } from '../frame/toasts.tsx'
import { who } from './session.ts'

export type Token = Entry<'ListTokensAnswer'>
export type NewToken = components['schemas']['CreateTokensObject']

/** Whether the session's token may see and make tokens. Only one with all rights may. */
export function maySeeTokens(): boolean {
  return who.value?.scopes === null
}

/** The tokens of the account, the newest first. */
export const tokens = new OnDemand<readonly Token[]>({
  async read(signal) {
    if (!maySeeTokens()) return []
    const all = succeeded(await api.GET('/v1/tokens/list', { signal }))
    return all.toSorted((a, b) => b.created_at.localeCompare(a.created_at))
  },
  concerns: ({ object }) => object.type === 'token',
})

/** Makes a token and returns it. Throws `ApiFailure`. */
export async function createToken(body: NewToken): Promise<string> {
  const { token } = one(await api.POST('/v1/tokens', { body }))
  tokens.refresh()
  return token
}

/** Revokes a token and says what came of it. Never throws. */
export async function revokeToken({ uuid, label }: Token): Promise<void> {
  try {
    const [entry] = entriesOf(await api.DELETE('/v1/tokens', { body: [{ uuid }] }))
    if (entry !== undefined && isFailed(entry)) say(entry.message, { isBad: true })
    else say(`${nameOf({ uuid, label })} was revoked.`)
    tokens.refresh()
  } catch (error) {
    if (!isSessionEnd(error)) say(sentenceOf(error), { isBad: true })
  }
}

/** Tokens without a label are called by the beginning of their UUIDs. */
export function nameOf({ uuid, label }: Pick<Token, 'uuid' | 'label'>): string {
  return label === '' ? `Token ${uuid.slice(0, 8)}` : label
}
