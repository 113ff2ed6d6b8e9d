import type { Database } from '../database.ts'
import type { SecretBox } from '../secret-box.ts'

/** One authority's row, its key opened: the account with it, or the local authority itself. */
export interface AuthorityAccountRecord {
  /** PEM. */
  readonly key: string
  readonly accountUrl?: string
  readonly chain?: string
}

interface StoredAccount {
  readonly keySealed: string
  readonly accountUrl: string | null
  readonly chain: string | null
}

/** Where issuers keep their accounts (`AuthorityStore` of `src/acme`), with the keys sealed. */
export function createAuthorityAccounts(deps: {
  readonly database: Database
  readonly secretBox: SecretBox
}) {
  const { database, secretBox } = deps

  async function stored(directory: string): Promise<StoredAccount | undefined> {
    const [found] = await database.rows<StoredAccount>({
      name: 'authority-account',
      text: `select key_sealed as "keySealed", account_url as "accountUrl", chain
             from authority_accounts where directory = $1`,
      values: [directory],
    })
    return found
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
      const sealed = secretBox.seal(record.key, contextOf(directory))
      const values = [directory, record.accountUrl ?? null, sealed, record.chain ?? null]
      const insert = `insert into authority_accounts as kept (directory, account_url, key_sealed, chain) values ($1, $2, $3, $4)`
      await (replaced === undefined
        ? database.rows({
            name: 'authority-account-keep',
            text: `${insert} on conflict (directory) do nothing`,
            values,
          })
        : database.rows({
            name: 'authority-account-replace',
            text: `${insert} on conflict (directory) do update
                   set account_url = excluded.account_url, key_sealed = excluded.key_sealed, chain = excluded.chain, created_at = now()
                   where kept.chain is not distinct from $5`,
            values: [...values, replaced.chain ?? null],
          }))
      return (await find(directory)) ?? record
    },

    async noteAccountUrl(directory: string, record: AuthorityAccountRecord, accountUrl: string) {
      const found = await stored(directory)
      // Sealed twice, a key has two texts: what is compared is the one that was opened.
      if (found === undefined || secretBox.open(found.keySealed, contextOf(directory)) !== record.key) return
      await database.rows({
        name: 'authority-account-url',
        text: 'update authority_accounts set account_url = $3 where directory = $1 and key_sealed = $2',
        values: [directory, found.keySealed, accountUrl],
      })
    },
  }
}

function contextOf(directory: string): string {
  return `authority ${directory}`
}
