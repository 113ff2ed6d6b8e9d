import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { startPartProcess } from '../../src/launch/parts/part-process.ts'
import { superuserUrl } from '../../src/launch/services/postgres-roles.ts'
import { postgresPart } from '../../src/launch/services/postgres.ts'
import { freePort } from '../../src/primitives/free-ports.ts'

/** A PostgreSQL server of its own in a temporary directory, on a free port of 127.0.0.1. */
export interface TestServer {
  readonly url: string
  /** Stops the server like an operator, which cuts every connection, and keeps its data. */
  halt(): Promise<void>
  /** Starts the server again after `halt`, at the same address. */
  resume(): Promise<void>
  /** Stops the server and deletes its data. */
  stop(): Promise<void>
}

/** These tests do not test durability, and every synced write would cost milliseconds. */
const fastSettings = [
  '--fsync=off',
  '--synchronous_commit=off',
  '--full_page_writes=off',
  '--max_connections=300',
]
const startLimitMs = 60_000
const stopLimitMs = 10_000

/** Starts the same server as the stack, in the same way. It ends when this process ends, for any reason. */
export async function startTestServer(): Promise<TestServer> {
  const temporary = mkdtempSync(path.join(tmpdir(), 'roost-postgres-'))
  // A run that breaks off does not call `stop`, so the data are removed here. The server itself ends with
  // its parent in any case.
  const discard = () => rmSync(temporary, { recursive: true, force: true })
  process.once('exit', discard)
  const embedded = {
    directory: path.join(temporary, 'data'),
    port: await freePort(),
    password: 'roost',
    applicationPassword: 'of no use here',
  }
  const part = await postgresPart(embedded, async () => {})
  const output: string[] = []

  async function start() {
    const running = await startPartProcess(
      { ...part, args: [...part.args, ...fastSettings] },
      { runDirectory: temporary, environment: {}, onLine: (line) => output.push(line) },
    )
    const ended = running.exited.then(() => Promise.reject(new Error('PostgreSQL ended')))
    await Promise.race([part.ready(AbortSignal.timeout(startLimitMs)), ended]).catch((cause: unknown) => {
      throw new Error(`PostgreSQL did not start:\n${output.join('\n')}`, { cause })
    })
    ended.catch(() => undefined)
    return running
  }

  let running = await start()
  return {
    url: superuserUrl(embedded, 'postgres'),
    halt: () => running.stop(stopLimitMs),
    async resume() {
      running = await start()
    },
    async stop() {
      await running.stop(stopLimitMs)
      discard()
      process.off('exit', discard)
    },
  }
}
