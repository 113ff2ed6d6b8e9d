import assert from 'node:assert/strict'
import { once } from 'node:events'
import { ExecClose } from '../../src/domain/instance/exec-protocol.ts'
import type { ExecCommand } from '../../src/domain/instance/exec-protocol.ts'
import { ExecClient } from '../support/exec-client.ts'
import { runInstance, viewOf } from '../support/instances.ts'
import type { InstanceView } from '../support/instances.ts'
import { untilAsleep } from '../support/published-instance.ts'
import { createRoostProgram } from '../support/roost-program.ts'
import type { RoostProgram } from '../support/roost-program.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const limitMs = 60_000

describe('programs in a running instance', () => {
  let stack: Stack
  let box: InstanceView
  let roost: RoostProgram
  before(async () => {
    stack = await sharedStack()
    roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
    box = await runInstance(stack.api, {
      name: 'exec-box',
      image: 'busybox',
      args: ['sh', '-c', 'while :; do sleep 1; done'],
      env: { GREETING: 'hello there' },
    })
  })
  after(async () => {
    await roost?.remove()
    if (box !== undefined) await stack.api.one('deleteInstances', { object: box.uuid })
  })

  async function begin(
    object: string,
    command: Omit<Extract<ExecCommand, { type: 'run' }>, 'type'>,
  ): Promise<ExecClient> {
    const client = await ExecClient.open(stack.apiUrl, stack.token, `/v1/instances/${object}/exec`)
    client.tell({ type: 'run', ...command })
    return client
  }

  it('have the environment of the application, and their exit code is that of the command', async () => {
    const script = 'echo $GREETING; echo oops >&2; exit 3'
    const ended = await roost.run(['exec', 'exec-box', '--', 'sh', '-c', script])
    assert.deepEqual(ended, { code: 3, out: 'hello there\n', err: 'oops\n' })
    assert.equal((await roost.run(['exec', 'exec-box', '--', 'no-such-program'])).code, 127)
  })

  it('read a pipe to its end, and megabytes pass in both directions', async () => {
    const input = 'all of it\n'.repeat(300_000)
    const ended = await roost.run(['exec', 'exec-box', '--', 'cat'], { input })
    assert.equal(ended.code, 0, ended.err)
    assert.ok(ended.out === input, `${ended.out.length} of ${input.length} characters came back`)
  })

  it('have a terminal with its size, which may change, and keys make signals there', async () => {
    const shell = await begin('exec-box', { argv: ['sh'], terminal: { rows: 30, columns: 90 } })
    shell.input('stty size; echo is $TERM\n')
    await until('the size is shown', () => shell.stdout.includes('30 90\r\nis xterm'), { limitMs })
    shell.tell({ type: 'resize', rows: 41, columns: 111 })
    shell.input('stty size\n')
    await until('the new size is shown', () => shell.stdout.includes('41 111'), { limitMs })
    shell.input('echo now; sleep 1000\n')
    // The shell edits lines itself, and keys make signals only while a program runs.
    await until('the program runs', () => shell.stdout.includes('\nnow\r\n'), { limitMs })
    shell.input('\u0003')
    shell.input('exit 5\n')
    assert.deepEqual(await shell.closed(), [ExecClose.Done, ''])
    assert.deepEqual(shell.news.at(-1), { type: 'exit', code: 5 })
  })

  it('get signals, and end with their client', async () => {
    const sleeper = await begin('exec-box', { argv: ['sleep', '1000'] })
    await once(sleeper.socket, 'message')
    sleeper.tell({ type: 'signal', signal: 10 })
    await sleeper.closed()
    assert.deepEqual(sleeper.news.at(-1), { type: 'exit', signal: 10 })
    const left = await begin('exec-box', { argv: ['sleep', '4321'] })
    await once(left.socket, 'message')
    left.socket.terminate()
    const isGone = async () => {
      const { out } = await roost.run(['exec', 'exec-box', '--', 'ps'])
      return !out.includes('sleep 4321')
    }
    await until('the program has ended', isGone, { limitMs })
  })

  it('wake a sleeper, and keep it awake for as long as they run', async () => {
    const { uuid } = await runInstance(stack.api, {
      name: 'exec-sleeper',
      image: 'busybox',
      args: ['sh', '-c', 'while :; do sleep 1; done'],
      scale_to_zero: { policy: 'on', cooldown_time_ms: 500, stateful: true },
    })
    try {
      await untilAsleep(stack, uuid)
      const client = await begin('exec-sleeper', { argv: ['sh', '-c', 'echo awake; sleep 4; echo still'] })
      await client.closed()
      assert.equal(client.stdout, 'awake\nstill\n')
      assert.deepEqual(client.news.at(-1), { type: 'exit', code: 0 })
      await untilAsleep(stack, uuid)
    } finally {
      await stack.api.one('deleteInstances', { object: uuid })
    }
  })

  it('end with the instance, and a stopped one runs none', async () => {
    const { uuid } = await runInstance(stack.api, {
      name: 'exec-stopped',
      image: 'busybox',
      args: ['sleep', '100000'],
    })
    const client = await begin(uuid, { argv: ['sleep', '1000'] })
    await once(client.socket, 'message')
    await stack.api.one('stopInstances', { object: uuid, body: { force: true } })
    assert.deepEqual(await client.closed(), [ExecClose.Lost, 'the instance ended, or closed the session'])
    await until('it is stopped', async () => (await viewOf(stack.api, uuid)).state === 'stopped', { limitMs })
    const refused = await (await begin(uuid, { argv: ['sh'] })).closed()
    assert.deepEqual(refused, [ExecClose.NotRunning, 'The instance is stopped.'])
    await stack.api.one('deleteInstances', { object: uuid })
  })
})
