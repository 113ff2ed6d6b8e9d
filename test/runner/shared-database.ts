import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

/** One PostgreSQL for the whole run. Each test file makes databases of its own in it. */
export interface SharedDatabase {
  /**
   * The variables with which a group's tests find the database. There are none for a group that does not use
   * the database, because its network namespace may not reach it.
   */
  envOf(group: string): NodeJS.ProcessEnv
  stop(): Promise<void>
}

/** The groups whose tests use the database. A run of only other groups has no database. */
const users = new Set(['db', 'api', 'workflow', 'launch'])

export async function startSharedDatabase(groups: readonly string[]): Promise<SharedDatabase> {
  if (!groups.some((group) => users.has(group))) return { envOf: () => ({}), stop: async () => {} }
  const server = fork(path.join(import.meta.dirname, 'database-process.ts'))
  const ended = once(server, 'exit')
  const url = await Promise.race([
    once(server, 'message').then(([message]) => String(message)),
    ended.then(([code]) => {
      throw new Error(`PostgreSQL for the tests did not start (exit code ${code})`)
    }),
  ])
  return {
    envOf: (group) => (users.has(group) ? { ROOST_TEST_DATABASE_URL: url } : {}),
    async stop() {
      if (server.connected) server.disconnect()
      await ended
    },
  }
}
