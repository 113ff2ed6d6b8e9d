/**
 * Where it is kept how the platform is known to authorities, one account for each directory, and the local
 * authority itself, in place of an account. Several processes use it at once. Keys are PEM; whoever
 * implements it sees to it that they are not readable where they lie.
 */
export interface AuthorityStore {
  find(directory: string): Promise<AuthorityRecord | undefined>
  /**
   * Keeps the record where there is none, or where the one there is still `replaced`; answers what is kept
   * then. So of several that make one at once, all go on with the same.
   */
  keep(directory: string, record: AuthorityRecord, replaced?: AuthorityRecord): Promise<AuthorityRecord>
  /**
   * Under which URL the authority knows the account with this key; nothing happens where another key is kept
   * by now.
   */
  noteAccountUrl(directory: string, record: AuthorityRecord, accountUrl: string): Promise<void>
}

export interface AuthorityRecord {
  readonly key: string
  /** Absent until the authority answered. */
  readonly accountUrl?: string
  /** Of the local authority: its own certificate. */
  readonly chain?: string
}
