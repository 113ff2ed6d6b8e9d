import type { AuthorityRecord, AuthorityStore } from '../../src/acme/authority-store.ts'

/** A store in memory. Tests read `records`, and delete from it. */
export interface MemoryStore extends AuthorityStore {
  readonly records: Map<string, AuthorityRecord>
}

export function createMemoryStore(): MemoryStore {
  const records = new Map<string, AuthorityRecord>()
  return {
    records,
    async find(directory) {
      return records.get(directory)
    },
    async keep(directory, record, replaced) {
      const kept = records.get(directory)
      if (kept !== undefined && kept.chain !== replaced?.chain) return kept
      if (kept !== undefined && replaced === undefined) return kept
      records.set(directory, record)
      return record
    },
    async noteAccountUrl(directory, record, accountUrl) {
      const kept = records.get(directory)
      if (kept?.key === record.key) records.set(directory, { ...kept, accountUrl })
    },
  }
}
