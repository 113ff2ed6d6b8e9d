import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { registryPart } from '../../src/launch/services/registry.ts'

describe("the registry's directory", () => {
  const home = mkdtempSync(path.join(tmpdir(), 'roost-registry-'))
  const directory = path.join(home, 'registry')

  after(() => rmSync(home, { recursive: true, force: true }))

  it('is closed to other users of the machine, even if an earlier start left it open', async () => {
    mkdirSync(directory, { mode: 0o755 })
    const part = await registryPart({
      program: 'docker-registry',
      directory,
      port: 1,
      apiUrl: 'http://127.0.0.1:1',
      certificateFile: path.join(home, 'registry.crt'),
      httpSecret: 'secret',
    })
    await part.prepare?.()
    assert.equal(statSync(directory).mode & 0o777, 0o700)
  })
})
