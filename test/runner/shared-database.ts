/** One PostgreSQL for the whole run; each test file makes databases of its own in it. */
export interface SharedDatabase {
  readonly env: Readonly<Record<string, string>>
  stop(): Promise<void>
}

export async function startSharedDatabase(): Promise<SharedDatabase> {
  return { env: {}, stop: async () => {} }
}
