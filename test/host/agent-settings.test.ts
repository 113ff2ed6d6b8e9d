import { strict as assert } from 'node:assert'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const program = path.resolve(import.meta.dirname, '../../src/bin/agent.ts')

interface Refusal {
  readonly code: number
  readonly stderr: string
}

describe('an agent that can not start', () => {
  let dataDir: string
  beforeEach(() => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'roost-agent-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true }))

  async function refusalWith(env: Readonly<Record<string, string>>): Promise<Refusal> {
    const options = { env: { ...process.env, ROOST_DATA_DIR: dataDir, ...env } }
    return run(process.execPath, [program], options).then(
      () => assert.fail('it started'),
      (error: unknown) => error as Refusal,
    )
  }

  it('without a join token says in one line which setting names it and what prints it', async () => {
    const file = path.join(dataDir, 'join-token')
    const { code, stderr } = await refusalWith({ ROOST_JOIN_TOKEN_FILE: file })
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `The agent can not start: ROOST_JOIN_TOKEN_FILE is '${file}', which does not exist: put the token there that ` +
        '`cat <data directory>/keys/join-token` prints on the machine of the API, or name the file that has it\n',
    )
  })

  it('with an empty join token says so', async () => {
    const file = path.join(dataDir, 'join-token')
    writeFileSync(file, '\n')
    const { code, stderr } = await refusalWith({ ROOST_JOIN_TOKEN_FILE: file })
    assert.equal(code, 1)
    assert.match(stderr, /^The agent can not start: ROOST_JOIN_TOKEN_FILE is '.*', which is empty: .*\n$/)
  })

  it('names a setting that has a value it can not have', async () => {
    const { code, stderr } = await refusalWith({ ROOST_VMM: 'firecracker' })
    assert.equal(code, 1)
    assert.equal(
      stderr,
      "The agent can not start: ROOST_VMM is 'firecracker'; permitted are auto, qemu, fake\n",
    )
  })
})
