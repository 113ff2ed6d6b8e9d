import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { CommandShell, ShellGone } from '../../../src/host/network/command-shell.ts'
import { CommandError, Commands } from '../../../src/host/network/commands.ts'

const longLimitMs = 10_000
const shortLimitMs = 50

describe('commands of the host', () => {
  it('get their words and their input as they are', async () => {
    const commands = new Commands()
    const words = ['a b', "it's", '$HOME', '`id`', 'two\nlines', '', '*']
    assert.equal(await commands.run(['printf', '<%s>', ...words]), words.map((word) => `<${word}>`).join(''))
    const input = `$HOME \\ 'quotes' "more"\n${'x'.repeat(100_000)}\n`
    assert.equal(await commands.run(['cat'], input), input)
    assert.equal(await commands.run(['cat']), '')
  })

  it('run side by side, each with its own output', async () => {
    const commands = new Commands()
    const numbers = Array.from({ length: 20 }, (_, index) => String(index))
    const printed = await Promise.all(numbers.map(async (each) => await commands.run(['echo', each])))
    assert.deepEqual(
      printed,
      numbers.map((each) => `${each}\n`),
    )
  })

  it('fail with what they said, and the next one runs', async () => {
    const commands = new Commands()
    const failing = commands.run(['sh', '-c', 'echo out; echo refused >&2; exit 3'])
    await assert.rejects(
      failing,
      (error) => error instanceof CommandError && error.message.endsWith('ended with 3: refused'),
    )
    await assert.rejects(commands.run(['roost-no-such-tool']), /could not be started/)
    assert.equal(await commands.run(['echo', 'next']), 'next\n')
  })

  it('get nothing of the environment', async () => {
    process.env['ROOST_TEST_SECRET'] = 'secret'
    const printed = await new Commands().run(['env'])
    delete process.env['ROOST_TEST_SECRET']
    assert.doesNotMatch(printed, /secret/)
  })

  it('say no more than the bytes that are kept, however much they print', async () => {
    const shell = new CommandShell()
    const noisy = ['sh', '-c', 'yes | head -c 1000000 >&2; exit 1']
    const { code, errors } = await shell.run(noisy, '', longLimitMs)
    assert.deepEqual([code, errors.length <= 2_000], [1, true])
    assert.equal((await shell.run(['echo', 'next'], '', longLimitMs)).output, 'next\n')
  })

  it('that hang are killed with their shell after the limit', async () => {
    const shell = new CommandShell()
    const mark = '86399.25'
    await assert.rejects(shell.run(['sleep', mark], '', shortLimitMs), ShellGone)
    assert.equal(shell.gone, true)
    assert.throws(() => execFileSync('pgrep', ['-f', `sleep ${mark}`]))
  })

  it('run in a new shell after one was killed', async () => {
    const commands = new Commands()
    await assert.rejects(commands.run(['sh', '-c', 'kill -9 $PPID']), /did not end/)
    assert.equal(await commands.run(['echo', 'next']), 'next\n')
  })
})
