import { strict as assert } from 'node:assert'
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { generateSecretKey } from '../../../src/db/secret-box.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'

const shim = path.resolve(import.meta.dirname, '../../../src/bin/roost.mjs')

describe('the roost program', () => {
  let own: TestDatabase
  let dataDir: string
  before(async () => {
    own = await createTestDatabase()
    dataDir = mkdtempSync(path.join(tmpdir(), 'roost-cli-'))
  })
  after(async () => {
    rmSync(dataDir, { recursive: true, force: true })
    await own.drop()
  })

  function roost(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const settings = { PATH: process.env['PATH'], HOME: dataDir, ROOST_DATA_DIR: dataDir, ...env }
    return new Promise<{ code: number; out: string; notes: string }>((resolve) => {
      execFile(process.execPath, [shim, ...args], { env: settings }, (error, out, notes) => {
        resolve({ code: error === null ? 0 : Number(error.code), out, notes })
      })
    })
  }

  it('hands its arguments, its output and its exit code through', async () => {
    const made = await roost(['user', 'create', 'ann', '--json'], { DATABASE_URL: own.url })
    assert.deepEqual([made.code, made.notes, JSON.parse(made.out).name], [0, '', 'ann'])
    const again = await roost(['user', 'create', 'ann'], { DATABASE_URL: own.url })
    assert.deepEqual([again.code, again.out], [1, ''])
    assert.equal((await roost(['user', 'bogus'])).code, 2)
  })

  it('finds the database of a stack by what the stack left in its directory', async () => {
    const missing = await roost(['user', 'list'])
    assert.equal(missing.code, 1)
    assert.ok(missing.notes.includes(`no stack has run in ${dataDir}`))
    writeFileSync(path.join(dataDir, 'stack.json'), JSON.stringify({ databaseUrl: own.url }))
    assert.equal((await roost(['user', 'list', '--json'])).code, 0)
  })

  it('names a database that does not answer, without its password', async () => {
    const { code, notes } = await roost(['user', 'list'], {
      DATABASE_URL: 'postgres://roost:hunter2@127.0.0.1:1/x',
    })
    assert.equal(code, 1)
    assert.match(notes, /the database at 127\.0\.0\.1:1\/x does not answer: .*ECONNREFUSED/)
    assert.ok(!notes.includes('hunter2'))
  })

  it('names a setting that is not permitted', async () => {
    const { code, notes } = await roost(['user', 'list'], { ROOST_API_PORT: 'seventy' })
    assert.equal(code, 2)
    assert.match(notes, /ROOST_API_PORT/)
  })

  it('makes the authority for custom domains once, with the key of the data directory', async () => {
    const ask = () => roost(['ca', '--custom-domains'], { DATABASE_URL: own.url })
    const without = await ask()
    assert.deepEqual([without.code, without.out], [1, ''])
    assert.match(without.notes, /keys\/secret\.key can not be read \(ENOENT\)/)
    mkdirSync(path.join(dataDir, 'keys'))
    writeFileSync(path.join(dataDir, 'keys', 'secret.key'), generateSecretKey())
    const [first, second] = await Promise.all([ask(), ask()])
    assert.equal(first.code, 0, first.notes)
    assert.ok(new X509Certificate(first.out).ca)
    assert.deepEqual([second.out, (await ask()).out], [first.out, first.out])
  })
})
