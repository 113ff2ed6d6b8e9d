import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { refusalOf } from '../refusal.ts'
import type { Refusal } from '../refusal.ts'

describe('a part that can not start', () => {
  let dataDir: string
  beforeEach(() => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'roost-part-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true }))

  const refusalWith = (part: string, env: Readonly<Record<string, string>>): Promise<Refusal> =>
    refusalOf(part, { DATABASE_URL: '', ROOST_DATA_DIR: dataDir, ...env })

  for (const [part, name] of [
    ['agent', 'agent'],
    ['api', 'API'],
    ['gateway', 'gateway'],
    ['worker', 'worker'],
    ['prepare', 'preparation'],
  ] as const) {
    it(`names a setting that has a value it can not have, in one line (${name})`, async () => {
      const { code, stderr } = await refusalWith(part, { ROOST_VMM: 'firecracker' })
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
      const { code, stderr } = await refusalWith(part, {})
      assert.equal(code, 1)
      const todo =
        'this part starts no services of its own, so set it to the address of one (docs/settings.md)'
      assert.equal(stderr, `The ${name} can not start: ${setting} is not set: ${todo}\n`)
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
      const { code, stderr } = await refusalWith(part, { ...database, [setting]: file })
      assert.equal(code, 1)
      assert.equal(
        stderr,
        `The ${name} can not start: ${setting} is '${file}', which does not exist: ` +
          'the first start of Roost makes it, or src/bin/prepare.ts\n',
      )
    })
  }

  for (const [part, name] of [
    ['api', 'API'],
    ['worker', 'worker'],
  ] as const) {
    it(`names a file that holds no secret key, in one line and without what it holds (${name})`, async () => {
      const file = path.join(dataDir, 'secret-key')
      writeFileSync(file, 'c2hvcnQ=\n')
      const { code, stderr } = await refusalWith(part, { ...database, ROOST_SECRET_KEY_FILE: file })
      assert.equal(code, 1)
      assert.equal(
        stderr,
        `The ${name} can not start: ROOST_SECRET_KEY_FILE is '${file}', which holds no key: ` +
          'a secret key has 32 bytes in base64, this one has 5\n',
      )
    })
  }

  it('without a join token says which setting names it and what prints it (agent)', async () => {
    const file = path.join(dataDir, 'join-token')
    const { code, stderr } = await refusalWith('agent', { ROOST_JOIN_TOKEN_FILE: file })
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
    const { code, stderr } = await refusalWith('agent', { ROOST_JOIN_TOKEN_FILE: file })
    assert.equal(code, 1)
    assert.match(stderr, /^The agent can not start: ROOST_JOIN_TOKEN_FILE is '.*', which is empty: .*\n$/)
  })
})
