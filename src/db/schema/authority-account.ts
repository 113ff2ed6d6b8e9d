import { defineEntity, p } from '@mikro-orm/postgresql'

/**
 * How the platform is known to an authority: one account per directory. The local authority's row holds the
 * authority itself.
 */
export const AuthorityAccount = defineEntity({
  name: 'AuthorityAccount',
  tableName: 'authority_accounts',
  properties: {
    /** The directory's URL, or `local`. */
    directory: p.text().primary(),
    accountUrl: p.text().nullable(),
    /** PEM, sealed by the secret box. */
    keySealed: p.text(),
    /** Of the local authority: its own certificate, PEM. */
    chain: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
