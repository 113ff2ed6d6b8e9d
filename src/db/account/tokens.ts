import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import type { ExpressionBuilder, RawBuilder } from 'kysely'
import { theOperator } from '../../domain/event/asker.ts'
import type { Asker } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { allRights } from '../../domain/account/token-scope.ts'
import type { TokenRights } from '../../domain/account/token-scope.ts'
import type { Database } from '../database.ts'
import { eventObject, writeEvents } from '../event/write.ts'
import { json } from '../postgres-client.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import type { Db, Tables } from '../schema/tables.ts'
import { anyOf } from '../sql/lists.ts'
import { ago, now } from '../sql/time.ts'
import { newTokenSecret, tokenName, tokenText } from './token-text.ts'
import { lockUser } from './user-lock.ts'

export interface TokenRecord extends TokenRights {
  readonly uuid: string
  readonly userName: string
  readonly label: string
  readonly developer: boolean
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
}

/** A token that is asked for. Without rights it has all, without an expiry it lives until it is revoked. */
export interface NewToken {
  readonly userUuid: string
  readonly label?: string
  readonly developer?: boolean
  readonly rights?: TokenRights
  readonly expiresAt?: Date | null
  /** Who makes the token. Absent: an operator. */
  readonly asker?: Asker
}

/** How long a token is still listed after it has expired, so that its owner sees why something stopped. */
export const expiredTokenShownMs = 30 * 86_400_000
/**
 * How many tokens that were revoked or have expired keep their row, for each account. Further ones are
 * removed when the account makes a token, those first that ended first.
 */
export const maxEndedTokens = 100

/**
 * Creates a token and returns its text, as clients expect it. The text can not be read again later, because
 * only a hash of the secret is stored.
 */
export async function createToken(
  { db }: Database,
  wanted: NewToken,
): Promise<{ readonly uuid: string; readonly token: string }> {
  return db.transaction().execute((db) => insertToken(db, wanted))
}

export type IssueTokenOutcome =
  | { readonly ok: true; readonly token: string; readonly record: TokenRecord }
  | { readonly ok: false; readonly refusal: WriteRefusal }

/**
 * Creates a token under the lock of the user's row. Refuses it if the user lacks one of the services to
 * which it is limited, or if it would be one more than `most` tokens that are neither revoked nor expired.
 */
export async function issueToken(
  { db }: Database,
  wanted: NewToken & { readonly most?: number },
): Promise<IssueTokenOutcome> {
  const written = await orRefusal(() =>
    db.transaction().execute(async (db) => {
      const { most, userUuid, rights = allRights } = wanted
      await lockUser(db, userUuid)
      await removeLongEnded(db, userUuid)
      if (most !== undefined && (await countLiving(db, userUuid)) >= most) {
        throw new Refused({ kind: 'too-many-tokens', limit: most })
      }
      await refuseUnknownServices(db, userUuid, rights.services ?? [])
      const { uuid, token } = await insertToken(db, wanted)
      const record = await selectTokens(db).where('tokens.uuid', '=', uuid).executeTakeFirstOrThrow()
      return { token, record }
    }),
  )
  return written.ok ? { ok: true, ...written.value } : written
}

/** Creates a token in the caller's transaction, without a look at the bounds. */
export async function insertToken(db: Db, wanted: NewToken): Promise<{ uuid: string; token: string }> {
  const user = await db
    .selectFrom('users')
    .select('name')
    .where('uuid', '=', wanted.userUuid)
    .executeTakeFirst()
  assert(user, 'a token is made for a user that exists')
  const { secret, selector, sha256 } = newTokenSecret()
  const { scopes, services } = wanted.rights ?? allRights
  const token = {
    uuid: randomUUID(),
    userUuid: wanted.userUuid,
    label: wanted.label ?? '',
    developer: wanted.developer ?? false,
    scopes: scopes && json(scopes),
    services: services && json(services),
    expiresAt: wanted.expiresAt ?? null,
    selector,
    secretSha256: sha256.toString('hex'),
  }
  await db.insertInto('tokens').values(token).execute()
  const { asker = theOperator } = wanted
  const why = 'it was asked for'
  await writeEvents(db, [{ ...tokenObject(token), kind: UserEventKind.TokenCreated, why, asker }])
  return { uuid: token.uuid, token: tokenText(user.name, secret) }
}

async function countLiving(db: Db, userUuid: string): Promise<number> {
  const { count } = await db
    .selectFrom('tokens')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('userUuid', '=', userUuid)
    .where(living)
    .executeTakeFirstOrThrow()
  return count
}

/** Whether a token is accepted: it is neither revoked nor expired. */
export function living(eb: ExpressionBuilder<Tables, 'tokens'>) {
  return eb.and([eb('tokens.revokedAt', 'is', null), expiresAfter(now)(eb)])
}

/** Whether a token expires after this time, or never. */
function expiresAfter(time: RawBuilder<Date>) {
  return (eb: ExpressionBuilder<Tables, 'tokens'>) =>
    eb.or([eb('tokens.expiresAt', 'is', null), eb('tokens.expiresAt', '>', time)])
}

async function refuseUnknownServices(db: Db, userUuid: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const found = await db
    .selectFrom('services')
    .select('name')
    .where('userUuid', '=', userUuid)
    .where('name', '=', anyOf(names))
    .execute()
  const unknown = names.find((name) => !found.some((service) => service.name === name))
  if (unknown !== undefined) throw new Refused({ kind: 'service-not-found', by: 'name', value: unknown })
}

async function removeLongEnded(db: Db, userUuid: string): Promise<void> {
  await db
    .deleteFrom('tokens')
    .where('uuid', 'in', (eb) =>
      eb
        .selectFrom('tokens')
        .select('uuid')
        .where('userUuid', '=', userUuid)
        .where((eb) => eb.or([eb('revokedAt', 'is not', null), eb('expiresAt', '<=', now)]))
        .orderBy((eb) => eb.fn('least', ['revokedAt', 'expiresAt']), 'desc')
        .offset(maxEndedTokens),
    )
    .execute()
}

function selectTokens(db: Db) {
  return db
    .selectFrom('tokens')
    .innerJoin('users', 'users.uuid', 'tokens.userUuid')
    .select(['tokens.uuid', 'users.name as userName', 'label', 'developer', 'scopes', 'services'])
    .select(['tokens.createdAt', 'expiresAt', 'lastUsedAt', 'revokedAt'])
}

/** All tokens, or one user's, oldest first. */
export async function listTokens({ db }: Database, userName?: string): Promise<readonly TokenRecord[]> {
  return selectTokens(db)
    .$if(userName !== undefined, (query) => query.where('users.name', '=', userName!))
    .orderBy('tokens.createdAt')
    .orderBy('tokens.uuid')
    .execute()
}

/**
 * The tokens that their user sees, oldest first: those that are not revoked, unless they expired more than
 * `expiredTokenShownMs` ago. With `uuids` only these.
 */
export async function listOwnTokens(
  { db }: Database,
  userUuid: string,
  uuids?: readonly string[],
): Promise<readonly TokenRecord[]> {
  return selectTokens(db)
    .where('tokens.userUuid', '=', userUuid)
    .where('revokedAt', 'is', null)
    .where(expiresAfter(ago(expiredTokenShownMs)))
    .$if(uuids !== undefined, (query) => query.where('tokens.uuid', '=', anyOf(uuids!)))
    .orderBy('tokens.createdAt')
    .orderBy('tokens.uuid')
    .execute()
}

/** Revokes a token, of this user if one is given. False if there is no such token. Idempotent. */
export async function revokeToken(
  { db }: Database,
  uuid: string,
  { userUuid, asker = theOperator }: { readonly userUuid?: string; readonly asker?: Asker } = {},
): Promise<boolean> {
  return db.transaction().execute(async (db) => {
    const token = await db
      .selectFrom('tokens')
      .select(['uuid', 'label', 'userUuid', 'revokedAt'])
      .where('uuid', '=', uuid)
      .$if(userUuid !== undefined, (query) => query.where('userUuid', '=', userUuid!))
      .forUpdate()
      .executeTakeFirst()
    if (token === undefined) return false
    if (token.revokedAt !== null) return true
    await db.updateTable('tokens').set({ revokedAt: now }).where('uuid', '=', uuid).execute()
    const why = 'it is accepted no more'
    await writeEvents(db, [{ ...tokenObject(token), kind: UserEventKind.TokenRevoked, why, asker }])
    return true
  })
}

function tokenObject(token: { readonly uuid: string; readonly label: string; readonly userUuid: string }) {
  return eventObject({ ...token, name: tokenName(token) })
}
