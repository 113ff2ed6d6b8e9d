import { defineEntity, p } from '@mikro-orm/postgresql'
import { User } from './user.ts'

/** A bearer token. Its row is found by `selector`; the secret is compared with its hash. */
export const Token = defineEntity({
  name: 'Token',
  tableName: 'tokens',
  properties: {
    uuid: p.uuid().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index('tokens_user_index'),
    label: p.text(),
    developer: p.boolean(),
    selector: p.text().unique('tokens_selector_unique'),
    secretSha256: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    lastUsedAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
  },
})
