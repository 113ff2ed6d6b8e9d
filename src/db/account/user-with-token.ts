import type { Asker } from '../../domain/event/asker.ts'
import type { Database } from '../database.ts'
import { insertToken } from './tokens.ts'
import { insertUser } from './users.ts'
import type { CreateUserOutcome, NewUser, UserRecord } from './users.ts'

/** The label of the token with which an account begins. */
export const firstTokenLabel = 'first'

export type CreateUserWithTokenOutcome =
  | { readonly ok: true; readonly user: UserRecord; readonly token: string }
  | Extract<CreateUserOutcome, { readonly ok: false }>

/**
 * Creates a user who is no administrator, and a token with all rights. Both are written or none: an account
 * without a token could only be opened by an operator.
 */
export async function createUserWithToken(
  { db }: Database,
  wanted: Omit<NewUser, 'admin'> & { readonly asker: Asker },
): Promise<CreateUserWithTokenOutcome> {
  return db.transaction().execute(async (db) => {
    const outcome = await insertUser(db, { ...wanted, admin: false })
    if (!outcome.ok) return outcome
    const { user } = outcome
    const { asker } = wanted
    const { token } = await insertToken(db, { userUuid: user.uuid, label: firstTokenLabel, asker })
    return { ok: true, user, token }
  })
}
