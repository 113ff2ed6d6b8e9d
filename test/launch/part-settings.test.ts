import { strict as assert } from 'node:assert'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const programs = path.resolve(import.meta.dirname, '../../src/bin')

interface Refusal {
  readonly code: number
  readonly stderr: string
}

describe('a part that can not start', () => {
  let dataDir: string
  beforeEach(() => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'roost-part-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true }))

  async function refusalOf(part: string, env: Readonly<Record<string, string>>): Promise<Refusal> {
    const options = { env: { ...process.env, DATABASE_URL: '', ROOST_DATA_DIR: dataDir, ...env } }
    return run(process.execPath, [path.join(programs, `${part}.ts`)], options).then(
      () => assert.fail('it started'),
      (error: unknown) => error as Refusal,
    )
  }

  for (const [part, name] of [
    ['agent', 'agent'],
    ['api', 'API'],
    ['gateway', 'gateway'],
    ['worker', 'worker'],
    ['prepare', 'preparation'],
  ] as const) {
    it(`names a setting that has a value it can not have, in one line (${name})`, async () => {
      const { code, stderr } = await refusalOf(part, { ROOST_VMM: 'firecracker' })
      assert.equal(code, 1)
      assert.equal(
        stderr,
        `The ${name} can not start: ROOST_VMM is 'firecracker'; permitted are auto, qemu, fake\n`,
      )
    })
  }

  for (const [part, name, setting] of [
    ['api', 'API', 'DATABASE_URL'],
    ['worker', 'worker', 'DATABASE_URL'],
    ['prepare', 'preparation', 'DATABASE_URL'],
  ] as const) {
    it(`names a setting that it needs and does not have, in one line (${name})`, async () => {
      const { code, stderr } = await refusalOf(part, {})
      assert.equal(code, 1)
      assert.equal(stderr, `The ${name} can not start: ${setting} is not set\n`)
    })
  }

  const database = { DATABASE_URL: 'postgres://127.0.0.1:1/none', ROOST_REGISTRY_URL: 'http://127.0.0.1:1' }
  for (const [part, name, setting] of [
    ['api', 'API', 'ROOST_SECRET_KEY_FILE'],
    ['worker', 'worker', 'ROOST_SECRET_KEY_FILE'],
    ['gateway', 'gateway', 'ROOST_GATEWAY_TOKEN_FILE'],
  ] as const) {
    it(`names a file that is not there, in one line (${name})`, async () => {
      const file = path.join(dataDir, 'missing')
      const { code, stderr } = await refusalOf(part, { ...database, [setting]: file })
      assert.equal(code, 1)
      assert.equal(
        stderr,
        `The ${name} can not start: ${setting} is '${file}', which does not exist: ` +
          'the first start of Roost makes it, or src/bin/prepare.ts\n',
      )
    })
  }

  it('without a join token says which setting names it and what prints it (agent)', async () => {
    const file = path.join(dataDir, 'join-token')
    const { code, stderr } = await refusalOf('agent', { ROOST_JOIN_TOKEN_FILE: file })
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `The agent can not start: ROOST_JOIN_TOKEN_FILE is '${file}', which does not exist: put the token there that ` +
        '`cat <data directory>/keys/join-token` prints on the machine of the API, or name the file that has it\n',
    )
  })

  it('says that a file is empty (agent)', async () => {
    const file = path.join(dataDir, 'join-token')
    writeFileSync(file, '\n')
    const { code, stderr } = await refusalOf('agent', { ROOST_JOIN_TOKEN_FILE: file })
    assert.equal(code, 1)
    assert.match(stderr, /^The agent can not start: ROOST_JOIN_TOKEN_FILE is '.*', which is empty: .*\n$/)
  })
})
