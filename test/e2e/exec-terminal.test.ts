import assert from 'node:assert/strict'
import path from 'node:path'
import { runInstance } from '../support/instances.ts'
import type { InstanceView } from '../support/instances.ts'
import { openPseudoTerminal } from '../support/pseudo-terminal.ts'
import type { PseudoTerminal } from '../support/pseudo-terminal.ts'
import { createRoostProgram } from '../support/roost-program.ts'
import type { RoostProgram } from '../support/roost-program.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const limitMs = 60_000
/** As people start it: `npx roost` runs this file. */
const launcher = path.resolve(import.meta.dirname, '../../src/bin/roost.mjs')
const keys = { interrupt: '\u0003', endOfInput: '\u0004', suspend: '\u001A' }

describe('a program in an instance, at the terminal of a person', () => {
  let stack: Stack
  let roost: RoostProgram
  let box: InstanceView
  const terminals: PseudoTerminal[] = []
  before(async () => {
    stack = await sharedStack()
    roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
    box = await runInstance(stack.api, {
      name: 'terminal-box',
      image: 'busybox',
      args: ['sh', '-c', 'while :; do sleep 1; done'],
    })
  })
  afterEach(async () => {
    for (const terminal of terminals.splice(0)) await terminal.close()
  })
  after(async () => {
    await roost?.remove()
    if (box !== undefined) await stack.api.one('deleteInstances', { object: box.uuid })
  })

  async function at(...args: readonly string[]): Promise<PseudoTerminal> {
    const terminal = await openPseudoTerminal([process.execPath, launcher, 'exec', ...args], {
      PATH: process.env['PATH'],
      HOME: roost.home,
      TERM: 'vt220',
      ROOST_ADDRESS: stack.apiUrl,
      ROOST_TOKEN: stack.token,
    })
    terminals.push(terminal)
    return terminal
  }
  async function shell(): Promise<PseudoTerminal> {
    const terminal = await at('terminal-box', '--', 'sh')
    await terminal.shows('# ')
    return terminal
  }
  const runs = async (what: string) =>
    (await roost.run(['exec', 'terminal-box', '--', 'ps'])).out.includes(what)

  it('gets the keys, also Ctrl-C, Ctrl-Z and Ctrl-D, and shows each of them once', async () => {
    const terminal = await shell()
    const begin = async (program: string) => {
      terminal.type(`${program}\r`)
      // Keys that come before it runs are for the shell.
      await until(`${program} runs`, async () => await runs(program), { limitMs })
    }
    terminal.type('echo $TERM\r')
    await terminal.shows('\r\nvt220\r\n')
    await begin('sleep 1234')
    terminal.type(keys.interrupt)
    // The terminal shows the key before or after the shell has heard of it.
    const isInterrupted = () => /(\^C\r\n|\r\n\^C)\/ # /.test(terminal.screen())
    await until('the shell is back', isInterrupted, { limitMs })
    await begin('sleep 1235')
    terminal.type(keys.suspend)
    await terminal.shows('[1]+  Stopped')
    // A shell that has stopped programs does not end at once.
    terminal.type('kill -9 %1; wait\r')
    await begin('cat -')
    terminal.type(`to cat\r${keys.endOfInput}`)
    // The shell tells of the killed program before this prompt or before the last one.
    const isBack = () => /to cat\r\nto cat\r\n(\[1\][^\r]*\r\n)?\/ # /.test(terminal.screen())
    await until('the shell is back', isBack, { limitMs })
    terminal.type(keys.endOfInput)
    assert.deepEqual(await terminal.ended, { code: 0, restored: true })
    assert.equal(terminal.screen().split('sleep 1234').length, 2, terminal.screen())
  })

  it('has the size of the terminal, also after that has changed', async () => {
    const terminal = await shell()
    terminal.type('stty size\r')
    await terminal.shows('\r\n30 90\r\n')
    terminal.resize({ rows: 41, columns: 111 })
    await until(
      'the size is known inside',
      () => {
        terminal.type('stty size\r')
        return terminal.screen().includes('\r\n41 111\r\n')
      },
      { limitMs },
    )
    terminal.type('exit 5\r')
    assert.deepEqual(await terminal.ended, { code: 5, restored: true })
  })

  it('writes to the terminal byte by byte', async () => {
    const terminal = await at('terminal-box', '--', 'sh', '-c', "stty raw; printf 'one\\ntwo\\rthree'")
    assert.deepEqual(await terminal.ended, { code: 0, restored: true })
    assert.equal(terminal.screen(), 'one\ntwo\rthree')
  })

  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    it(`ends with the command when that gets ${signal}, and the terminal is as before`, async () => {
      const terminal = await shell()
      terminal.type('sleep 2345\r')
      await until('it runs', async () => await runs('sleep 2345'), { limitMs })
      process.kill(terminal.pid, signal)
      assert.deepEqual(await terminal.ended, { code: 125, restored: true })
      assert.match(
        terminal.screen(),
        /\r\nroost: the command was ended by a signal, and the program with it\r\n$/,
      )
      await until('the program has ended', async () => !(await runs('sleep 2345')), { limitMs })
    })
  }

  it('gets SIGINT from Ctrl-C once where it has no terminal itself', async () => {
    const script = 'trap "echo one; exit 7" INT; echo ready; while :; do sleep 1; done'
    const terminal = await at('-T', 'terminal-box', '--', 'sh', '-c', script)
    await terminal.shows('ready')
    terminal.type(keys.interrupt)
    assert.deepEqual(await terminal.ended, { code: 7, restored: true })
    assert.equal(terminal.screen(), 'ready\r\n^Cone\r\n')
  })

  it('that is not there is told on a line of its own', async () => {
    const terminal = await at('terminal-box', '--', 'nothing')
    assert.deepEqual(await terminal.ended, { code: 127, restored: true })
    assert.equal(terminal.screen(), 'roost: nothing: No such file or directory\r\n')
  })

  it('leaves the terminal as before when the connection breaks', async () => {
    const terminal = await shell()
    await stack.killPart('api')
    assert.deepEqual(await terminal.ended, { code: 125, restored: true })
    assert.match(terminal.screen(), /\r\nroost: the connection broke \(1006\)\r\n$/)
  })
})
