import { timingSafeEqual } from 'node:crypto'
import type { TokenRights } from '../../domain/account/token-scope.ts'
import type { Database } from '../database.ts'
import type { Db } from '../schema/tables.ts'
import { clientUserName, parseTokenSecret, splitToken, tokenName } from './token-text.ts'

/** Who a request comes from, and what its token permits. */
export interface Identity extends TokenRights {
  readonly userUuid: string
  readonly userName: string
  readonly tokenUuid: string
  /** The label of the token, or its UUID if it has none. */
  readonly tokenName: string
  /** A developer sees the inner times of a start. */
  readonly developer: boolean
  /** An administrator may push `official/...` to the registry, and sees the hosts. */
  readonly admin: boolean
  /** Null: the token does not expire. */
  readonly expiresAt: Date | null
}

/** The answer to a token. Nobody learns that a token has expired but who has the whole token. */
export type Authentication =
  | { readonly kind: 'valid'; readonly identity: Identity }
  | { readonly kind: 'expired'; readonly at: Date }
  /** No user has such a token, or it was revoked. */
  | { readonly kind: 'unknown' }

export interface TokenAuthenticator {
  /**
   * Finds out who the bearer of a token is. A revocation takes effect within a second, an expiry at once.
   */
  authenticate(token: string): Promise<Authentication>
  /**
   * The same as `authenticate`, for a login to the registry. The password is the whole token, or the token's
   * secret.
   */
  authenticateLogin(login: { readonly user: string; readonly password: string }): Promise<Authentication>
}

/**
 * How long a token that was found good is accepted without a query. A revocation takes effect after this
 * time at the latest.
 */
const cacheTtlMs = 500
const maxCachedTokens = 1_000
const lastUsedEveryMs = 60_000

const unknown: Authentication = { kind: 'unknown' }

/** Looks tokens up in PostgreSQL. A token that was found good is not looked up again for half a second. */
export function createTokenAuthenticator(
  database: Database,
  now: () => number = Date.now,
): TokenAuthenticator {
  const cache = new Map<string, { readonly identity: Identity; readonly untilMs: number }>()

  function remember(key: string, identity: Identity): void {
    if (cache.size >= maxCachedTokens) cache.delete(cache.keys().next().value!)
    const expiresMs = identity.expiresAt?.getTime() ?? Infinity
    cache.set(key, { identity, untilMs: Math.min(now() + cacheTtlMs, expiresMs) })
  }

  async function authenticateSecret(user: string, text: string): Promise<Authentication> {
    const userName = clientUserName(user)
    const given = parseTokenSecret(text)
    if (userName === undefined || given === undefined) return unknown
    const cacheKey = `${userName}:${given.sha256.toString('hex')}`
    const cached = cache.get(cacheKey)
    if (cached && cached.untilMs > now()) return { kind: 'valid', identity: cached.identity }
    cache.delete(cacheKey)
    const stored = await findToken(database, userName, given.selector)
    if (!stored || !timingSafeEqual(given.sha256, Buffer.from(stored.secretSha256, 'hex'))) return unknown
    const { secretSha256: _, lastUsedAt, ...found } = stored
    const identity = identityOf(found)
    const { expiresAt, tokenUuid } = identity
    if (expiresAt !== null && expiresAt.getTime() <= now()) return { kind: 'expired', at: expiresAt }
    await noteUse(database, { tokenUuid, lastUsedAt }, now())
    remember(cacheKey, identity)
    return { kind: 'valid', identity }
  }

  async function authenticate(token: string): Promise<Authentication> {
    const parts = splitToken(token)
    return parts === undefined ? unknown : authenticateSecret(parts.user, parts.secret)
  }

  return {
    authenticate,
    async authenticateLogin({ user, password }) {
      const whole = splitToken(password)
      if (whole && clientUserName(whole.user) === clientUserName(user)) return authenticate(password)
      return authenticateSecret(user, password)
    },
  }
}

interface StoredIdentity extends Omit<Identity, 'tokenName'> {
  readonly label: string
}

interface StoredToken extends StoredIdentity {
  readonly secretSha256: string
  readonly lastUsedAt: Date | null
}

export function identityOf({ label, ...found }: StoredIdentity): Identity {
  return { ...found, tokenName: tokenName({ uuid: found.tokenUuid, label }) }
}

/** The identities of all tokens that are not revoked. */
export function selectIdentities(db: Db) {
  return db
    .selectFrom('tokens')
    .innerJoin('users', 'users.uuid', 'tokens.userUuid')
    .select(['users.uuid as userUuid', 'users.name as userName', 'admin'])
    .select(['tokens.uuid as tokenUuid', 'label', 'developer', 'scopes', 'services', 'expiresAt'])
    .where('revokedAt', 'is', null)
}

async function findToken(
  { db }: Database,
  userName: string,
  selector: string,
): Promise<StoredToken | undefined> {
  return selectIdentities(db)
    .select(['secretSha256', 'tokens.lastUsedAt'])
    .where('selector', '=', selector)
    .where('users.name', '=', userName)
    .executeTakeFirst()
}

/** Records at most once per minute when a token was last used. */
export async function noteUse(
  { db }: Database,
  { tokenUuid, lastUsedAt }: Pick<StoredToken, 'tokenUuid' | 'lastUsedAt'>,
  nowMs: number,
): Promise<void> {
  if (lastUsedAt && nowMs - lastUsedAt.getTime() < lastUsedEveryMs) return
  await db
    .updateTable('tokens')
    .set({ lastUsedAt: new Date(nowMs) })
    .where('uuid', '=', tokenUuid)
    .execute()
}
