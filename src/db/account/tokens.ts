import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Database } from '../database.ts'
import { Token } from '../schema/token.ts'
import { User } from '../schema/user.ts'
import { parseUserName } from './users.ts'

/** Who a request comes from. */
export interface Identity {
  readonly userUuid: string
  readonly userName: string
  readonly tokenUuid: string
  /** Sees the inner times of a start. */
  readonly developer: boolean
  /** Writes `official/...` in the registry. */
  readonly admin: boolean
}

export interface TokenRecord {
  readonly uuid: string
  readonly userName: string
  readonly label: string
  readonly developer: boolean
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
}

export interface TokenAuthenticator {
  /**
   * The bearer's identity; undefined where the token is unknown or revoked. A revocation holds within a
   * second.
   */
  authenticate(token: string): Promise<Identity | undefined>
  /** The same for a registry's login: the password is the whole token, or its secret. */
  authenticateLogin(login: {
    readonly user: string
    readonly password: string
  }): Promise<Identity | undefined>
}

/** 96 bits find the row, 256 bits prove it. */
const selectorBytes = 12
const proofBytes = 32
const selectorLength = Buffer.alloc(selectorBytes).toString('base64url').length
const maxTokenLength = 512
const secretPattern = /^[\w-]+$/
/** What a known token costs no query for; a revocation is effective after this at the latest. */
const cacheTtlMs = 500
const maxCachedTokens = 1_000
const lastUsedEveryMs = 60_000

/** Creates a token and returns it: `base64(user:secret)`, as clients expect it. It can not be read again. */
export async function createToken(
  database: Database,
  wanted: { readonly userUuid: string; readonly label?: string; readonly developer?: boolean },
): Promise<{ readonly uuid: string; readonly token: string }> {
  const em = database.em()
  const user = await em.findOneOrFail(User, { uuid: wanted.userUuid })
  const selector = randomBytes(selectorBytes).toString('base64url')
  const secret = `${selector}${randomBytes(proofBytes).toString('base64url')}`
  const uuid = randomUUID()
  await em.insert(Token, {
    uuid,
    user: user.uuid,
    label: wanted.label ?? '',
    developer: wanted.developer ?? false,
    selector,
    secretSha256: sha256(secret).toString('hex'),
    createdAt: new Date(),
  })
  return { uuid, token: Buffer.from(`${user.name}:${secret}`).toString('base64') }
}

/** All tokens, or one user's, oldest first. */
export async function listTokens(database: Database, userName?: string): Promise<readonly TokenRecord[]> {
  return database.rows<TokenRecord>({
    name: 'list-tokens',
    text: `select t.uuid, u.name as "userName", t.label, t.developer, t.created_at as "createdAt",
             t.last_used_at as "lastUsedAt", t.revoked_at as "revokedAt"
           from tokens t join users u on u.uuid = t.user_uuid
           where $1::text is null or u.name = $1 order by t.created_at, t.uuid`,
    values: [userName ?? null],
  })
}

/** False where there is no such token. Revoking twice is fine. */
export async function revokeToken(database: Database, uuid: string): Promise<boolean> {
  const rows = await database.rows({
    name: 'revoke-token',
    text: 'update tokens set revoked_at = coalesce(revoked_at, now()) where uuid = $1 returning uuid',
    values: [uuid],
  })
  return rows.length > 0
}

interface StoredToken extends Identity {
  readonly secretSha256: string
  readonly lastUsedAt: Date | null
}

/** Asks PostgreSQL, but not again for a token that was good within the last half second. */
export function createTokenAuthenticator(
  database: Database,
  now: () => number = Date.now,
): TokenAuthenticator {
  const cache = new Map<string, { readonly identity: Identity; readonly untilMs: number }>()

  async function authenticateSecret(user: string, secret: string): Promise<Identity | undefined> {
    const userName = clientUserName(user)
    if (userName === undefined || secret.length <= selectorLength || !secretPattern.test(secret))
      return undefined
    const digest = sha256(secret)
    const cacheKey = `${userName}:${digest.toString('hex')}`
    const cached = cache.get(cacheKey)
    if (cached && cached.untilMs > now()) return cached.identity
    cache.delete(cacheKey)
    const stored = await findToken(database, userName, secret.slice(0, selectorLength))
    if (!stored || !timingSafeEqual(digest, Buffer.from(stored.secretSha256, 'hex'))) return undefined
    await noteUse(database, stored, now())
    const { userUuid, tokenUuid, developer, admin } = stored
    const identity = { userUuid, userName, tokenUuid, developer, admin }
    if (cache.size >= maxCachedTokens) cache.delete(cache.keys().next().value!)
    cache.set(cacheKey, { identity, untilMs: now() + cacheTtlMs })
    return identity
  }

  async function authenticate(token: string): Promise<Identity | undefined> {
    const parts = splitToken(token)
    return parts && authenticateSecret(parts.user, parts.secret)
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

/** Undefined where the text is not base64 of `user:secret` with one colon. */
function splitToken(token: string): { readonly user: string; readonly secret: string } | undefined {
  if (token.length > maxTokenLength || !/^[A-Za-z0-9+/]+={0,2}$/.test(token)) return undefined
  const [user, secret, ...more] = Buffer.from(token, 'base64').toString('utf8').split(':')
  if (user === undefined || secret === undefined || more.length > 0) return undefined
  return { user, secret }
}

/** Some clients write the user as `robot$<name>.users.kraftcloud`. */
function clientUserName(user: string): string | undefined {
  return parseUserName(user.replace(/^robot\$/, '').replace(/\.users\.kraftcloud$/, ''))
}

async function findToken(
  database: Database,
  userName: string,
  selector: string,
): Promise<StoredToken | undefined> {
  const [stored] = await database.rows<StoredToken>({
    name: 'find-token',
    text: `select u.uuid as "userUuid", u.name as "userName", u.admin, t.uuid as "tokenUuid", t.developer,
             t.secret_sha256 as "secretSha256", t.last_used_at as "lastUsedAt"
           from tokens t join users u on u.uuid = t.user_uuid
           where t.selector = $1 and u.name = $2 and t.revoked_at is null`,
    values: [selector, userName],
  })
  return stored
}

async function noteUse(database: Database, token: StoredToken, nowMs: number): Promise<void> {
  if (token.lastUsedAt && nowMs - token.lastUsedAt.getTime() < lastUsedEveryMs) return
  await database.rows({
    name: 'note-token-use',
    text: 'update tokens set last_used_at = $2 where uuid = $1',
    values: [token.tokenUuid, new Date(nowMs)],
  })
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
