import assert from 'node:assert/strict'
import { logOf, runInstance, viewOf, waitFor } from '../support/instances.ts'
import type { InstanceView } from '../support/instances.ts'
import { virtualMachinesOf } from '../support/processes.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const executing = 127
const outOfMemoryErrno = 12

/** The fields of a stop code, from the highest bit to the lowest. */
function stopCodeOf(view: InstanceView) {
  const code = view.stop_code ?? -1
  const atShutdown = ((code >> 15) & 1) === 1
  return { errno: (code >> 16) & 0xff, atShutdown, initlvl: (code >> 8) & 0x7f, reason: code & 0xff }
}

/** The stop code of a clean end: nothing was left to shut down. */
const clean = { errno: 0, atShutdown: true, initlvl: 0, reason: 0 }

const fromWithin = [
  { name: 'exit-0', script: 'exit 0', reason: 3, exitCode: 0, stop: 0 },
  { name: 'exit-42', script: 'exit 42', reason: 3, exitCode: 42, stop: 0 },
  { name: 'segv', script: 'kill -SEGV $$', reason: 1, exitCode: undefined, stop: 5 },
  { name: 'ill', script: 'kill -ILL $$', reason: 1, exitCode: undefined, stop: 3 },
  {
    name: 'panic',
    script: 'echo c > /proc/sysrq-trigger; sleep 60',
    reason: 1,
    exitCode: undefined,
    stop: 1,
  },
] as const

describe('why an instance stopped', () => {
  let stack: Stack
  before(async () => {
    stack = await sharedStack()
  })
  after(async () => {
    const all = await stack.api.call('listInstances')
    const mine = all.filter(({ name }) => name.startsWith('why-')).map(({ uuid }) => ({ uuid }))
    if (mine.length > 0) await stack.api.call('deleteInstances', { body: mine })
  })

  for (const { name, script, reason, exitCode, stop } of fromWithin) {
    it(`is told after \`${script}\`: stop_reason ${reason}`, async () => {
      const { uuid } = await stack.api.one('createInstances', {
        body: { name: `why-${name}`, image: 'busybox', args: ['sh', '-c', script], autostart: true },
      })
      const view = await waitFor(stack.api, uuid, 'stopped')
      assert.equal(view.stop_reason, reason)
      assert.equal(view.exit_code, exitCode)
      const during = { errno: 0, atShutdown: false, initlvl: executing, reason: stop }
      assert.deepEqual(stopCodeOf(view), stop === 0 ? clean : during)
      assert.equal(view.start_count, 1)
      assert.equal(virtualMachinesOf(uuid).length, 0)
    })
  }

  it('is told when memory ran out: page fault with ENOMEM while executing', async () => {
    const { uuid } = await stack.api.one('createInstances', {
      body: { name: 'why-oom', image: 'busybox', args: ['tail', '/dev/zero'], autostart: true },
    })
    const view = await waitFor(stack.api, uuid, 'stopped')
    assert.equal(view.stop_reason, 1)
    assert.equal(view.exit_code, undefined)
    assert.deepEqual(stopCodeOf(view), {
      errno: outOfMemoryErrno,
      atShutdown: false,
      initlvl: executing,
      reason: 4,
    })
  })

  it('is 15 with a clean stop code when the user stopped it and it ended on the signal', async () => {
    const script = 'trap "exit 5" TERM; echo obedient; while :; do sleep 0.1; done'
    const { uuid } = await runInstance(stack.api, {
      name: 'why-asked',
      image: 'busybox',
      args: ['sh', '-c', script],
    })
    await until('it listens', async () => (await logOf(stack.api, uuid)).includes('obedient'), {
      limitMs: 30_000,
    })
    await stack.api.one('stopInstances', { object: uuid })
    const view = await waitFor(stack.api, uuid, 'stopped')
    assert.deepEqual([view.stop_reason, view.exit_code], [15, 5])
    assert.deepEqual(stopCodeOf(view), clean)
  })

  it('is 13 without an exit code when the application outlived the shutdown signal', async () => {
    const script = 'trap "" TERM INT; echo deaf; while :; do sleep 1; done'
    const { uuid } = await runInstance(stack.api, {
      name: 'why-deaf',
      image: 'busybox',
      args: ['sh', '-c', script],
    })
    await until('it is deaf', async () => (await logOf(stack.api, uuid)).includes('deaf'), {
      limitMs: 30_000,
    })
    await stack.api.one('stopInstances', { object: uuid })
    const view = await waitFor(stack.api, uuid, 'stopped')
    assert.equal(view.stop_reason, 13)
    assert.equal(view.exit_code, undefined)
    assert.deepEqual(stopCodeOf(view), clean)
  })

  it('is 28 without any code when the stop was forced', async () => {
    const { uuid } = await runInstance(stack.api, { name: 'why-forced', image: 'busybox' })
    await stack.api.one('stopInstances', { object: uuid, body: { force: true } })
    const view = await waitFor(stack.api, uuid, 'stopped')
    assert.equal(view.stop_reason, 28)
    assert.equal(view.exit_code, undefined)
    assert.equal(view.stop_code, undefined)
  })

  it('is 0, unknown, when the VMM itself was killed', async () => {
    const { uuid } = await runInstance(stack.api, { name: 'why-lost', image: 'busybox' })
    const [vm] = virtualMachinesOf(uuid)
    assert.ok(vm)
    process.kill(vm.pid, 'SIGKILL')
    const view = await waitFor(stack.api, uuid, 'stopped')
    assert.equal(view.stop_reason, 0)
  })
})

describe('an application that crashes', () => {
  let stack: Stack
  before(async () => {
    stack = await sharedStack()
  })

  it('is started again at once and then with back-off, until a manual stop ends it', async () => {
    const { uuid } = await stack.api.one('createInstances', {
      body: {
        name: 'crasher',
        image: 'busybox',
        args: ['sh', '-c', 'echo oops; exit 1'],
        restart_policy: 'always',
        autostart: true,
      },
    })
    const waiting = await until(
      'the second restart is due',
      async () => {
        const view = await viewOf(stack.api, uuid)
        return view.restart?.attempt === 1 && view.restart.next_at !== undefined ? view : undefined
      },
      { limitMs: 30_000 },
    )
    assert.equal(waiting.state, 'stopped')
    assert.equal(waiting.stop_reason, 3)
    assert.equal(waiting.exit_code, 1)
    assert.equal(waiting.start_count, 2)
    assert.equal(waiting.restart_count, 1)
    const dueInMs = Date.parse(waiting.restart?.next_at ?? '') - Date.parse(waiting.stopped_at ?? '')
    // The workflow counts the 5 s from the moment it heard of the end.
    assert.ok(dueInMs >= 4_900 && dueInMs < 15_000, `the second restart comes after ${dueInMs} ms, not 5 s`)

    await until('the third restart is due', async () => (await viewOf(stack.api, uuid)).restart_count === 2, {
      limitMs: 30_000,
    })
    await stack.api.one('stopInstances', { object: uuid })
    const ended = await waitFor(stack.api, uuid, 'stopped')
    assert.equal(ended.restart?.next_at, undefined)
    await stack.api.one('deleteInstances', { object: uuid })
  })

  it('is left alone by `on-failure` when it exits with 0', async () => {
    const { uuid } = await stack.api.one('createInstances', {
      body: {
        name: 'finisher',
        image: 'busybox',
        args: ['sh', '-c', 'exit 0'],
        restart_policy: 'on-failure',
        autostart: true,
      },
    })
    const view = await waitFor(stack.api, uuid, 'stopped')
    assert.equal(view.restart?.next_at, undefined)
    assert.equal(view.restart_count, 0)
    await stack.api.one('deleteInstances', { object: uuid })
  })
})
