import { defineEntity, p } from '@mikro-orm/postgresql'

/**
 * The platform's account at an authority, one per directory. The local authority's row holds the authority
 * itself.
 */
export const AuthorityAccount = defineEntity({
  name: 'AuthorityAccount',
  tableName: 'authority_accounts',
  properties: {
    /** The directory's URL, or `local`. */
    directory: p.text().primary(),
    accountUrl: p.text().nullable(),
    /** The account's key, PEM, sealed by the secret box. */
    keySealed: p.text(),
    /** Only for the local authority: its own certificate, PEM. */
    chain: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
