import type { Database } from '../database.ts'
import type { SecretBox } from '../secret-box.ts'
import { metroKeyContext } from './feed-routes.ts'

export interface ToldMetro {
  readonly domain: string
  /** PEM. */
  readonly chain: string
  readonly key: string
}

/**
 * Keeps the certificate of the metro domain for the gateways on other machines. That of another domain, which
 * the installation had before, is forgotten. Idempotent: the same certificate changes nothing.
 */
export async function keepMetroCertificate(
  { database, secretBox }: { readonly database: Database; readonly secretBox: SecretBox },
  { domain, chain, key }: ToldMetro,
): Promise<void> {
  const keySealed = secretBox.seal(key, metroKeyContext(domain))
  await database.db.transaction().execute(async (db) => {
    await db.deleteFrom('metroCertificates').where('id', '<>', domain).execute()
    await db
      .insertInto('metroCertificates')
      .values({ id: domain, chain, keySealed })
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet({ chain, keySealed })
          // A sealed text is another one each time. The key belongs to the chain.
          .where('metroCertificates.chain', '<>', chain),
      )
      .execute()
  })
}
