import { defineEntity, p } from '@mikro-orm/postgresql'
import type { TokenScope } from '../../domain/account/token-scope.ts'
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
    /** What the token may be used for. Null: all rights. */
    scopes: p.json<readonly TokenScope[]>().nullable(),
    /**
     * The names of the services to which the token is limited. Null: it is not limited. Names and not
     * references: a service that is deleted and made again under its name has the same tokens.
     */
    services: p.json<readonly string[]>().nullable(),
    selector: p.text().unique('tokens_selector_unique'),
    secretSha256: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    /** Null: the token does not expire. */
    expiresAt: p.datetime(3).nullable(),
    lastUsedAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
  },
})
