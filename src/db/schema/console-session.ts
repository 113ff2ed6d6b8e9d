import { defineEntity, p } from '@mikro-orm/postgresql'
import { Token } from './token.ts'

/** A sign-in to the console with a token. Its cookie has a secret, of which only the hash is stored. */
export const ConsoleSession = defineEntity({
  name: 'ConsoleSession',
  tableName: 'console_sessions',
  properties: {
    secretSha256: p.text().primary(),
    token: () => p.manyToOne(Token).deleteRule('cascade').index('console_sessions_token_index'),
    createdAt: p.datetime(3).defaultRaw('now()'),
    /** When a person last used the page. Requests that the page sends by itself do not count. */
    lastUsedAt: p.datetime(3),
  },
})
