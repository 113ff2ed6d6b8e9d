import { startTestServer } from '../support/embedded-postgres.ts'

/** One PostgreSQL for the whole run; each test file makes databases of its own in it. */
export interface SharedDatabase {
  readonly env: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** The groups whose tests use it; a run of others does without. */
const users = new Set(['db', 'api', 'workflow', 'launch'])

export async function startSharedDatabase(groups: readonly string[]): Promise<SharedDatabase> {
  if (!groups.some((group) => users.has(group))) return { env: {}, stop: async () => {} }
  const server = await startTestServer()
  return { env: { ROOST_TEST_DATABASE_URL: server.url }, stop: () => server.stop() }
}
