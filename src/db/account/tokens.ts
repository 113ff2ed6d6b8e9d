import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Database } from '../database.ts'
import { now } from '../sql/time.ts'
import { parseUserName } from './users.ts'

/** Who a request comes from. */
export interface Identity {
  readonly userUuid: string
  readonly userName: string
  readonly tokenUuid: string
  /** A developer sees the inner times of a start. */
  readonly developer: boolean
  /** An administrator may push `official/...` to the registry. */
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
   * The bearer's identity; undefined if the token is unknown or revoked. A revocation takes effect within a
   * second.
   */
  authenticate(token: string): Promise<Identity | undefined>
  /**
   * The same as `authenticate`, for a login to the registry. The password is the whole token, or the token's
   * secret.
   */
  authenticateLogin(login: {
    readonly user: string
    readonly password: string
  }): Promise<Identity | undefined>
}

/**
 * The secret of a token has two parts: 96 bits by which its row is found, and 256 bits that nobody can
 * guess.
 */
const selectorBytes = 12
const proofBytes = 32
const selectorLength = Buffer.alloc(selectorBytes).toString('base64url').length
const maxTokenLength = 512
const secretPattern = /^[\w-]+$/
/**
 * How long a token that was found good is accepted without a query. A revocation takes effect after this
 * time at the latest.
 */
const cacheTtlMs = 500
const maxCachedTokens = 1_000
const lastUsedEveryMs = 60_000

/**
 * Creates a token and returns it: `base64(user:secret)`, as clients expect it. The token can not be read
 * again later, because only a hash of the secret is stored.
 */
export async function createToken(
  database: Database,
  wanted: { readonly userUuid: string; readonly label?: string; readonly developer?: boolean },
): Promise<{ readonly uuid: string; readonly token: string }> {
  const { db } = database
  const { name } = await db
    .selectFrom('users')
    .select('name')
    .where('uuid', '=', wanted.userUuid)
    .executeTakeFirstOrThrow()
  const selector = randomBytes(selectorBytes).toString('base64url')
  const secret = `${selector}${randomBytes(proofBytes).toString('base64url')}`
  const uuid = randomUUID()
  const token = {
    uuid,
    userUuid: wanted.userUuid,
    label: wanted.label ?? '',
    developer: wanted.developer ?? false,
    selector,
    secretSha256: sha256(secret).toString('hex'),
  }
  await db.insertInto('tokens').values(token).execute()
  return { uuid, token: Buffer.from(`${name}:${secret}`).toString('base64') }
}

/** All tokens, or one user's, oldest first. */
export async function listTokens({ db }: Database, userName?: string): Promise<readonly TokenRecord[]> {
  return db
    .selectFrom('tokens')
    .innerJoin('users', 'users.uuid', 'tokens.userUuid')
    .select(['tokens.uuid', 'users.name as userName', 'label', 'developer', 'tokens.createdAt'])
    .select(['lastUsedAt', 'revokedAt'])
    .$if(userName !== undefined, (query) => query.where('users.name', '=', userName!))
    .orderBy('tokens.createdAt')
    .orderBy('tokens.uuid')
    .execute()
}

/** Revokes a token. False if there is no such token. Idempotent. */
export async function revokeToken({ db }: Database, uuid: string): Promise<boolean> {
  const revoked = await db
    .updateTable('tokens')
    .set((eb) => ({ revokedAt: eb.fn.coalesce('revokedAt', now) }))
    .where('uuid', '=', uuid)
    .returning('uuid')
    .executeTakeFirst()
  return revoked !== undefined
}

interface StoredToken extends Identity {
  readonly secretSha256: string
  readonly lastUsedAt: Date | null
}

/** Looks tokens up in PostgreSQL. A token that was found good is not looked up again for half a second. */
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

/** The two parts of a token. Undefined if the text is not base64 of `user:secret` with one colon. */
function splitToken(token: string): { readonly user: string; readonly secret: string } | undefined {
  if (token.length > maxTokenLength || !/^[A-Za-z0-9+/]+={0,2}$/.test(token)) return undefined
  const [user, secret, ...more] = Buffer.from(token, 'base64').toString('utf8').split(':')
  if (user === undefined || secret === undefined || more.length > 0) return undefined
  return { user, secret }
}

/** The name of the user. Some clients write it as `robot$<name>.users.kraftcloud`. */
function clientUserName(user: string): string | undefined {
  return parseUserName(user.replace(/^robot\$/, '').replace(/\.users\.kraftcloud$/, ''))
}

async function findToken(
  { db }: Database,
  userName: string,
  selector: string,
): Promise<StoredToken | undefined> {
  return db
    .selectFrom('tokens')
    .innerJoin('users', 'users.uuid', 'tokens.userUuid')
    .select(['users.uuid as userUuid', 'users.name as userName', 'admin'])
    .select(['tokens.uuid as tokenUuid', 'developer', 'secretSha256', 'lastUsedAt'])
    .where('selector', '=', selector)
    .where('users.name', '=', userName)
    .where('revokedAt', 'is', null)
    .executeTakeFirst()
}

async function noteUse({ db }: Database, token: StoredToken, nowMs: number): Promise<void> {
  if (token.lastUsedAt && nowMs - token.lastUsedAt.getTime() < lastUsedEveryMs) return
  await db
    .updateTable('tokens')
    .set({ lastUsedAt: new Date(nowMs) })
    .where('uuid', '=', token.tokenUuid)
    .execute()
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
