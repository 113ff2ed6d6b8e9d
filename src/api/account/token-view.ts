import type { getTokens } from '../../contract/account/token-operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { TokenRecord } from '../../db/account/tokens.ts'
import { timestamp } from '../timestamp.ts'

/** All fields of a token but the token itself, which nobody can read again. */
export function presentToken(token: TokenRecord): OperationEntry<typeof getTokens> {
  const { uuid, label, scopes, services, developer, createdAt, expiresAt, lastUsedAt } = token
  return {
    uuid,
    label,
    ...(scopes === null ? {} : { scopes: [...scopes] }),
    ...(services === null ? {} : { services: [...services] }),
    developer,
    created_at: timestamp(createdAt),
    ...(expiresAt === null ? {} : { expires_at: timestamp(expiresAt) }),
    ...(lastUsedAt === null ? {} : { last_used_at: timestamp(lastUsedAt) }),
  }
}
