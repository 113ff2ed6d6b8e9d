import { createHash, randomBytes } from 'node:crypto'
import type { Database } from '../database.ts'
import type { Db } from '../schema/tables.ts'
import { identityOf, noteUse, selectIdentities } from './authenticator.ts'
import type { Identity } from './authenticator.ts'

/** How long a session lives without a person who uses it, and how long at most. */
export const sessionIdleMs = 30 * 60_000
export const sessionLimitMs = 12 * 3_600_000
/** The most sessions of one token. A further one ends the one that was unused for longest. */
export const maxSessionsPerToken = 20
/**
 * How long a session that was found good is accepted without a query. A sign-out at another API process and
 * the revocation of the token take effect after this time at the latest.
 */
const cacheTtlMs = 500
const maxCachedSessions = 1_000
/** How exactly a use is recorded. A page that says more often that it is used writes nothing more. */
const useEveryMs = 10_000

const secretBytes = 32
const secretPattern = /^[\w-]{43}$/

export interface FoundSession {
  readonly identity: Identity
  /** When it ends unless a person uses it before. */
  readonly endsAt: Date
  readonly lastUsedAt: Date
}

/** The sessions of the console. A session has the rights of the token with which it began. */
export interface Sessions {
  /** Begins a session and returns its secret, which can not be read again later. */
  begin(identity: Identity): Promise<{ readonly secret: string; readonly endsAt: Date }>
  /** Undefined if there is no such session, or if it or its token has ended. */
  find(secret: string): Promise<FoundSession | undefined>
  /** The same as `find`, and says that a person uses the session. */
  use(secret: string): Promise<FoundSession | undefined>
  /** Ends a session. Idempotent. */
  end(secret: string): Promise<void>
}

/** Keeps sessions in PostgreSQL. A session that was found good is not looked up again for half a second. */
export function createSessions(database: Database, now: () => number = Date.now): Sessions {
  const cache = new Map<string, { readonly session: FoundSession; readonly untilMs: number }>()

  function remember(key: string, session: FoundSession): void {
    if (cache.size >= maxCachedSessions) cache.delete(cache.keys().next().value!)
    cache.set(key, { session, untilMs: Math.min(now() + cacheTtlMs, session.endsAt.getTime()) })
  }

  async function find(secret: string): Promise<FoundSession | undefined> {
    const key = hashOf(secret)
    if (key === undefined) return undefined
    const cached = cache.get(key)
    if (cached && cached.untilMs > now()) return cached.session
    cache.delete(key)
    const session = await read(database.db, key)
    if (session === undefined || session.endsAt.getTime() <= now()) return undefined
    remember(key, session)
    return session
  }

  return {
    find,
    async begin({ tokenUuid, expiresAt }) {
      const secret = randomBytes(secretBytes).toString('base64url')
      const at = new Date(now())
      await removeEnded(database.db, now())
      await database.db
        .insertInto('consoleSessions')
        .values({ secretSha256: hashOf(secret)!, tokenUuid, createdAt: at, lastUsedAt: at })
        .execute()
      await removeBeyond(database.db, tokenUuid)
      return { secret, endsAt: endOf({ createdAt: at, lastUsedAt: at, expiresAt }) }
    },
    async use(secret) {
      const session = await find(secret)
      const key = hashOf(secret)
      if (session === undefined || key === undefined) return undefined
      if (now() - session.lastUsedAt.getTime() < useEveryMs) return session
      cache.delete(key)
      await database.db
        .updateTable('consoleSessions')
        .set({ lastUsedAt: new Date(now()) })
        .where('secretSha256', '=', key)
        .execute()
      await noteUse(database, { tokenUuid: session.identity.tokenUuid, lastUsedAt: null }, now())
      return find(secret)
    },
    async end(secret) {
      const key = hashOf(secret)
      if (key === undefined) return
      cache.delete(key)
      await database.db.deleteFrom('consoleSessions').where('secretSha256', '=', key).execute()
    },
  }
}

/** Undefined if no session has such a secret. */
function hashOf(secret: string): string | undefined {
  return secretPattern.test(secret) ? createHash('sha256').update(secret).digest('hex') : undefined
}

async function read(db: Db, key: string): Promise<FoundSession | undefined> {
  const row = await selectIdentities(db)
    .innerJoin('consoleSessions', 'consoleSessions.tokenUuid', 'tokens.uuid')
    .select(['consoleSessions.createdAt', 'consoleSessions.lastUsedAt as sessionUsedAt'])
    .where('consoleSessions.secretSha256', '=', key)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { createdAt, sessionUsedAt: lastUsedAt, ...found } = row
  const endsAt = endOf({ createdAt, lastUsedAt, expiresAt: found.expiresAt })
  return { identity: identityOf(found), endsAt, lastUsedAt }
}

function endOf(times: {
  readonly createdAt: Date
  readonly lastUsedAt: Date
  readonly expiresAt: Date | null
}): Date {
  const idleMs = times.lastUsedAt.getTime() + sessionIdleMs
  const limitMs = times.createdAt.getTime() + sessionLimitMs
  return new Date(Math.min(idleMs, limitMs, times.expiresAt?.getTime() ?? Infinity))
}

async function removeEnded(db: Db, nowMs: number): Promise<void> {
  await db
    .deleteFrom('consoleSessions')
    .where((eb) =>
      eb.or([
        eb('lastUsedAt', '<=', new Date(nowMs - sessionIdleMs)),
        eb('createdAt', '<=', new Date(nowMs - sessionLimitMs)),
      ]),
    )
    .execute()
}

async function removeBeyond(db: Db, tokenUuid: string): Promise<void> {
  await db
    .deleteFrom('consoleSessions')
    .where('secretSha256', 'in', (eb) =>
      eb
        .selectFrom('consoleSessions')
        .select('secretSha256')
        .where('tokenUuid', '=', tokenUuid)
        .orderBy('lastUsedAt', 'desc')
        .offset(maxSessionsPerToken),
    )
    .execute()
}
