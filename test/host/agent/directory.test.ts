import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { lockAgentDirectory } from '../../../src/host/agent/agent-directory.ts'

describe("the agent's directory", () => {
  const home = mkdtempSync(path.join(tmpdir(), 'roost-agent-'))
  const directory = path.join(home, 'agent')

  after(() => rmSync(home, { recursive: true, force: true }))

  it('is closed to other users, including those of VMs, even if an earlier agent left it open', () => {
    mkdirSync(directory, { mode: 0o755 })
    lockAgentDirectory(directory).release()
    assert.equal(statSync(directory).mode & 0o777, 0o700)
  })
})
