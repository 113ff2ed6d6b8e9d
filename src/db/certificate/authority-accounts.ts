import type { Database } from '../database.ts'
import type { SecretBox } from '../secret-box.ts'
import { now } from '../sql/time.ts'

/**
 * The row of one authority with its key opened: the account at the authority, or the local authority itself.
 */
export interface AuthorityAccountRecord {
  /** The account's key, PEM. */
  readonly key: string
  readonly accountUrl?: string
  readonly chain?: string
}

/** Where issuers keep their accounts (`AuthorityStore` of `src/acme`), with the keys sealed. */
export function createAuthorityAccounts(deps: {
  readonly database: Database
  readonly secretBox: SecretBox
}) {
  const { database, secretBox } = deps

  async function stored(directory: string) {
    return database.db
      .selectFrom('authorityAccounts')
      .select(['keySealed', 'accountUrl', 'chain'])
      .where('directory', '=', directory)
      .executeTakeFirst()
  }

  async function find(directory: string): Promise<AuthorityAccountRecord | undefined> {
    const found = await stored(directory)
    if (found === undefined) return undefined
    return {
      key: secretBox.open(found.keySealed, contextOf(directory)),
      ...(found.accountUrl !== null && { accountUrl: found.accountUrl }),
      ...(found.chain !== null && { chain: found.chain }),
    }
  }

  return {
    find,

    async keep(directory: string, record: AuthorityAccountRecord, replaced?: AuthorityAccountRecord) {
      const { accountUrl = null, chain = null } = record
      const keySealed = secretBox.seal(record.key, contextOf(directory))
      await database.db
        .insertInto('authorityAccounts')
        .values({ directory, accountUrl, keySealed, chain })
        .onConflict((oc) =>
          replaced === undefined
            ? oc.column('directory').doNothing()
            : oc
                .column('directory')
                .doUpdateSet((eb) => ({
                  accountUrl: eb.ref('excluded.accountUrl'),
                  keySealed: eb.ref('excluded.keySealed'),
                  chain: eb.ref('excluded.chain'),
                  createdAt: now,
                }))
                .where('authorityAccounts.chain', 'is not distinct from', replaced.chain ?? null),
        )
        .execute()
      return (await find(directory)) ?? record
    },

    async noteAccountUrl(directory: string, record: AuthorityAccountRecord, accountUrl: string) {
      const found = await stored(directory)
      // A key that is sealed twice has two different sealed texts, so the opened keys are compared.
      if (found === undefined || secretBox.open(found.keySealed, contextOf(directory)) !== record.key) return
      await database.db
        .updateTable('authorityAccounts')
        .set({ accountUrl })
        .where('directory', '=', directory)
        .where('keySealed', '=', found.keySealed)
        .execute()
    },
  }
}

function contextOf(directory: string): string {
  return `authority ${directory}`
}
