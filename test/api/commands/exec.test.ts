import assert from 'node:assert/strict'
import { ExecRefused } from '../../../src/host/exec/exec-session.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi } from '../../support/api-server.ts'
import { startExecHost } from '../../support/exec-host.ts'
import type { ExecHost } from '../../support/exec-host.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { Ended, RoostProgram } from '../../support/roost-program.ts'

describe('roost exec', () => {
  let api: TestApi
  let host: ExecHost
  let roost: RoostProgram
  before(async () => {
    api = await startTestApi()
    host = await startExecHost(api)
    const user = await api.addUser()
    await user.api.one('createInstances', { body: { name: 'web', image: 'hello' } })
    roost = await createRoostProgram({ url: api.url, token: user.token })
  })
  after(async () => {
    await roost.remove()
    await host.close()
    await api.close()
  })

  const exec = async (args: readonly string[], input?: string): Promise<Ended> =>
    await roost.run(['exec', ...args], input === undefined ? {} : { input })

  it('writes what the program prints, each stream for itself, and ends with its code', async () => {
    const ended = await exec(['web', '--', 'sh', '-c', 'echo out; echo err >&2; exit 42'])
    assert.deepEqual(ended, { code: 42, out: 'out\n', err: 'err\n' })
  })

  it('passes its input on, to the end of it', async () => {
    const text = 'line\n'.repeat(100_000)
    const ended = await exec(['web', '--', 'cat'], text)
    assert.deepEqual([ended.code, ended.out === text, ended.err], [0, true, ''])
  })

  it('ends at once with a program that has not read its input', async () => {
    const began = Date.now()
    const ended = await exec(['web', '--', 'sh', '-c', 'read first; exit 7'], 'line\n'.repeat(2_000_000))
    assert.deepEqual(ended, { code: 7, out: '', err: '' })
    // A side of a WebSocket that is not answered waits for 30 s.
    const tookMs = Date.now() - began
    assert.ok(tookMs < 20_000, `it took ${String(tookMs)} ms`)
  })

  it('ends with 128 and the signal, and with 127 if there is no such program', async () => {
    assert.equal((await exec(['web', '--', 'sh', '-c', 'kill -9 $$'])).code, 137)
    const missing = await exec(['web', '--', 'nothing'])
    assert.deepEqual(missing, { code: 127, out: '', err: 'roost: nothing: No such file or directory\n' })
  })

  it('gives the program a terminal where that is asked for', async () => {
    assert.equal((await exec(['web', '--', 'stty', 'size'])).out, '0 0\n')
    assert.equal((await exec(['-t', 'web', '--', 'stty', 'size'])).out, '24 80\r\n')
  })

  it('sends Ctrl-C to the program', async () => {
    const started = roost.start(['exec', 'web', '--', 'sleep', '100'])
    while (host.programs.at(-1)?.argv[0] !== 'sleep') await new Promise((resolve) => setTimeout(resolve, 20))
    started.child.kill('SIGINT')
    assert.equal((await started.ended).code, 130)
  })

  it('says where options of the program go', async () => {
    const { code, err } = await exec(['web', 'ls', '-la'])
    assert.equal(code, 2)
    assert.match(err, /unknown option '-la'\n\(options of the program come after --/)
  })

  it('ends with 125 and the reason if it can not run the program', async () => {
    const unknown = await exec(['nobody', '--', 'cat'])
    assert.equal(unknown.code, 125)
    assert.match(unknown.err, /^roost: .*nobody/)
    host.refusal = new ExecRefused('unable', 'the instance runs a kernel of its own')
    const refused = await exec(['web', '--', 'cat'])
    delete host.refusal
    assert.deepEqual(refused, { code: 125, out: '', err: 'roost: the instance runs a kernel of its own\n' })
    host.refusal = new ExecRefused('not-running', 'The instance is stopped.')
    const stopped = await exec(['web', '--', 'cat'])
    delete host.refusal
    assert.equal(stopped.err, 'roost: The instance is stopped.\nIf it is stopped, `roost start` starts it.\n')
    const elsewhere = await roost.run(['exec', 'web', '--', 'cat'], {
      env: { ROOST_ADDRESS: 'http://127.0.0.1:9' },
    })
    assert.equal(elsewhere.code, 125)
  })
})
