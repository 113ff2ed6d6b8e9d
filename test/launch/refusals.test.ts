import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { lockDataDirectory } from '../../src/launch/data-directory.ts'
import { refusalOf } from './refusal.ts'
import type { Refusal } from './refusal.ts'

describe('a stack that can not start', () => {
  let dataDir: string

  beforeEach(() => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'roost-refusal-'))
  })

  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  const refusalWith = (env: Readonly<Record<string, string>>): Promise<Refusal> =>
    refusalOf('stack', { ROOST_DATA_DIR: dataDir, ...env })

  it('names the process that has its data directory', async () => {
    const lock = lockDataDirectory(dataDir)
    const { code, stderr } = await refusalWith({})
    lock.release()
    assert.equal(code, 1)
    assert.match(stderr, /^Roost can not start: another stack \(process \d+\) works in /)
    assert.equal(stderr.trim().split('\n').length, 1, 'one line, no stack trace')
  })

  it('names the setting of a port that is taken, before it starts anything', async () => {
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    const { port } = squatter.address() as AddressInfo
    const { code, stderr } = await refusalWith({ ROOST_API_PORT: String(port) })
    squatter.close()
    assert.equal(code, 1)
    assert.match(stderr, /ROOST_API_PORT/)
    assert.equal(existsSync(path.join(dataDir, 'postgres')), false)
  })

  it('says in one sentence which port for further hosts is taken, and what to do', async () => {
    const squatter = createServer().listen(0)
    await once(squatter, 'listening')
    const { port } = squatter.address() as AddressInfo
    const { code, stderr } = await refusalWith({ ROOST_HOSTS_ADDRESS: `[2001:db8::1]:${port}` })
    squatter.close()
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `Roost can not start: port ${port}, at which further hosts reach the API, is in use: end the program that has it ` +
        `(\`ss -ltnp 'sport = :${port}'\` names it), or, if no host has joined yet, give ROOST_HOSTS_ADDRESS another port than [2001:db8::1]:${port}\n`,
    )
    assert.equal(existsSync(path.join(dataDir, 'postgres')), false)
  })

  it('names a setting that has a value it can not have', async () => {
    const { code, stderr } = await refusalWith({ ROOST_VMM: 'firecracker' })
    assert.equal(code, 1)
    assert.match(stderr, /ROOST_VMM is 'firecracker'; permitted are auto, qemu, fake/)
  })
})
