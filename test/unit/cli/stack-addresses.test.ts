import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findDatabaseUrl } from '../../../src/cli/stack-addresses.ts'

describe('the addresses of a stack', () => {
  let dataDir: string
  beforeEach(() => (dataDir = mkdtempSync(path.join(tmpdir(), 'roost-addresses-'))))
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  it('are not read from a damaged file, which is named', async () => {
    const file = path.join(dataDir, 'stack.json')
    const settings = {
      dataDir,
      apiUrl: '',
      databaseUrl: undefined,
      registryUrl: undefined,
      temporalAddress: undefined,
    }
    for (const text of ['', '{"databaseUrl": "postgr', 'null', '[]']) {
      writeFileSync(file, text)
      await assert.rejects(findDatabaseUrl(settings), {
        name: 'CliFailure',
        message: `${file} is damaged; start the stack once more`,
      })
    }
    writeFileSync(file, '{"databaseUrl": "postgres://here/roost"}')
    assert.equal(await findDatabaseUrl(settings), 'postgres://here/roost')
  })
})
