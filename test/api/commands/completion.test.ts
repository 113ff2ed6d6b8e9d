import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi } from '../../support/api-server.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { RoostProgram } from '../../support/roost-program.ts'

const run = promisify(execFile)
const program = path.resolve(import.meta.dirname, '../../../src/bin/roost.ts')

describe('the completions', () => {
  let api: TestApi
  let roost: RoostProgram
  let token: string
  before(async () => {
    api = await startTestApi()
    const user = await api.addUser()
    token = user.token
    roost = await createRoostProgram({ url: api.url, token })
    await user.api.one('createInstances', { body: { name: 'web', image: 'hello' } })
    await user.api.one('createInstances', { body: { name: 'worker', image: 'hello' } })
    await user.api.one('createServices', {
      body: { name: 'shop', services: [{ port: 443, destination_port: 8080 }] },
    })
    await user.api.one('createVolumes', { body: { name: 'notes', size_mb: 64 } })
    // The shells call the program by its name.
    await mkdir(path.join(roost.home, 'bin'))
    const script = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`
    await writeFile(path.join(roost.home, 'bin', 'roost'), script, { mode: 0o755 })
  })
  after(async () => {
    await roost.remove()
    await api.close()
  })

  const environment = () => ({
    PATH: `${path.join(roost.home, 'bin')}:${process.env['PATH']}`,
    HOME: roost.home,
    ...(process.env['LD_LIBRARY_PATH'] !== undefined && { LD_LIBRARY_PATH: process.env['LD_LIBRARY_PATH'] }),
    ROOST_ADDRESS: api.url,
    ROOST_TOKEN: token,
  })

  /** What bash offers after these words, of which the last is not complete. */
  async function offered(...words: readonly string[]): Promise<readonly string[]> {
    const list = ['roost', ...words].map((word) => `'${word}'`).join(' ')
    const script = `source <(roost completion bash); COMP_WORDS=(${list}); COMP_CWORD=${words.length}; _roost 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await run('bash', ['-c', script], { env: environment() })
    return stdout.split('\n').filter((line) => line !== '')
  }

  it('offer commands, subcommands and options in bash', async () => {
    assert.deepEqual(await offered('st'), ['start', 'stop'])
    assert.deepEqual(await offered('volume', 'at'), ['attach'])
    assert.deepEqual(await offered('run', '--sc'), ['--scale-to-zero'])
    assert.deepEqual(await offered('roll'), ['rollback', 'rollouts'])
    assert.deepEqual(await offered('deploy', 'shop', '--can'), ['--canary'])
    assert.ok(!(await offered('')).includes('complete-words'))
  })

  it('offer the names of the account’s objects in bash', async () => {
    assert.deepEqual(await offered('stop', 'w'), ['web', 'worker'])
    assert.deepEqual(await offered('volume', 'attach', ''), ['notes'])
    assert.deepEqual(await offered('deploy', ''), ['shop'])
    assert.deepEqual(await offered('rollback', 's'), ['shop'])
    assert.deepEqual(await offered('volume', 'attach', 'notes', 'we'), ['web'])
  })

  it('offer nothing, and say nothing, if the API does not answer', async () => {
    const { code, out, err } = await roost.run(['complete-words', '--', 'stop', ''], {
      env: { ROOST_ADDRESS: 'http://127.0.0.1:9' },
    })
    assert.deepEqual([code, out, err], [0, '', ''])
  })

  // zsh completes only at a terminal, so this calls its function as it would, and shows what it adds.
  const askZsh = `compdef() {}; compadd() { print -l "\${(@P)2}" }; _files() { print files }`
  const askers = {
    zsh: (file: string) => `${askZsh}; source ${file}; words=(roost stop w); CURRENT=3; _roost`,
    fish: (file: string) => `source ${file}; complete -C 'roost stop w'`,
  }
  for (const shell of ['zsh', 'fish'] as const) {
    it(`offer the same in ${shell}, where there is a ${shell}`, async function () {
      const found = await run('sh', ['-c', `command -v ${shell}`]).catch(() => undefined)
      if (found === undefined) return this.skip()
      const { out } = await roost.run(['completion', shell])
      const file = path.join(roost.home, `completion.${shell}`)
      await writeFile(file, out)
      const { stdout } = await run(shell, ['-c', askers[shell](file)], { env: environment() })
      assert.deepEqual(stdout.trim().split('\n'), ['web', 'worker'])
    })
  }
})
