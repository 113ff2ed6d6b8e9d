import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { meshInterfaceName } from '../../src/host/network/address-plan.ts'
import { currentNamespace } from '../support/namespace.ts'
import { startStack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
/** A machine that answers nothing. */
const other = {
  address: '10.127.240.1',
  publicKey: Buffer.alloc(32, 7).toString('base64'),
  endpoint: '127.0.0.1:4999',
  networks: ['10.127.240.0/20'],
  gateway: true,
}

describe('a stack with a file of the machines of its mesh', function () {
  let directory: string
  before(function () {
    // The stack's interfaces need a network without those of other stacks.
    if (process.getuid?.() !== 0 || currentNamespace() === undefined) return this.skip()
    directory = mkdtempSync(path.join(tmpdir(), 'roost-mesh-file-'))
  })
  after(() => {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
  })

  it('connects its host to them, follows the file, and leaves nothing when it ends', async () => {
    const file = path.join(directory, 'machines.json')
    writeFileSync(file, JSON.stringify([other]))
    const stack = await startStack({ ROOST_MESH_FILE: file, ROOST_MESH_PORT: '51999' })
    const name = meshInterfaceName(path.join(stack.dataDir, 'agent'))
    try {
      assert.equal(run('wg', 'show', name, 'peers').trim(), other.publicKey)
      assert.equal(run('wg', 'show', name, 'listen-port').trim(), '51999')
      assert.match(run('ip', 'route', 'get', other.address), new RegExp(`dev ${name} src 10\\.\\d+\\.0\\.1`))
      assert.match(run('nft', 'list', 'ruleset'), /set gateways \{[^}]*elements = \{ 10\.127\.240\.1 \}/)
      writeFileSync(file, '[]')
      const isForgotten = () => run('wg', 'show', name, 'peers').trim() === ''
      await until('the removal of the machine', isForgotten, { limitMs: 30_000 })
    } finally {
      await stack.remove()
    }
    assert.equal(run('ip', '-o', 'link').includes(name), false)
  })
})
