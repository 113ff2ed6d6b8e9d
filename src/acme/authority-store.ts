/**
 * Keeps how authorities know the platform: one account for each directory. For the local authority it keeps
 * the authority itself in place of an account. Several processes use it at once. Keys are PEM; an
 * implementation must make them unreadable where they are stored.
 */
export interface AuthorityStore {
  find(directory: string): Promise<AuthorityRecord | undefined>
  /**
   * Keeps the record if there is none, or if the present one is still `replaced`. Returns the record that is
   * kept afterwards. So if several make one at once, all go on with the same record.
   */
  keep(directory: string, record: AuthorityRecord, replaced?: AuthorityRecord): Promise<AuthorityRecord>
  /**
   * Keeps the URL of the account with this key, which the authority has given. Does nothing if another key
   * is kept by now.
   */
  noteAccountUrl(directory: string, record: AuthorityRecord, accountUrl: string): Promise<void>
}

export interface AuthorityRecord {
  readonly key: string
  /** The account's URL. It is absent until the authority has answered. */
  readonly accountUrl?: string
  /** The local authority's own certificate. Records of other authorities have none. */
  readonly chain?: string
}
