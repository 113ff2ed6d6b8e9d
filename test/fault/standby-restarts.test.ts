import assert from 'node:assert/strict'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { signalAll, stopFamily, virtualMachinesByInstance } from '../support/processes.ts'
import { untilAsleep } from '../support/published-instance.ts'
import { startStack } from '../support/stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'
import { addMember, cold, kept, verifyMembers } from './fleet.ts'
import type { Member } from './fleet.ts'

/**
 * This port range lies beside that of the tests' shared stack, and below the ports that parts choose for
 * themselves.
 */
const portOffset = 10_000

describe('instances in standby, and a stack that ends', function () {
  let stack: Stack
  let names: PublicNames
  let sleepers: readonly Member[]
  let awake: Member
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await startStack({ ROOST_PORT_OFFSET: String(portOffset) })
    names = openPublicNames(stack, { portOffset })
    sleepers = await Promise.all([
      addMember({ stack, names }, 'cold', { scale_to_zero: cold }),
      addMember({ stack, names }, 'kept', { scale_to_zero: kept }),
      addMember({ stack, names }, 'never-ran', { scale_to_zero: kept, autostart: false }),
    ])
    awake = await addMember({ stack, names }, 'awake', { restart_policy: 'always' })
  })
  after(async () => {
    await names?.close()
    await stack?.remove()
  })

  async function fallAsleep(): Promise<void> {
    await Promise.all(sleepers.slice(0, 2).map(async (member) => await member.ask()))
    await awake.ask()
    await Promise.all(sleepers.map(async ({ uuid }) => await untilAsleep(stack, uuid)))
  }

  it('sleep on over Ctrl-C and the next start, and wake with their memory', async () => {
    await fallAsleep()
    const before = await Promise.all(sleepers.map(async (member) => await member.view()))
    await stack.interrupt()
    await stack.startAgain()
    const after = await Promise.all(sleepers.map(async (member) => await member.view()))
    for (const [index, view] of after.entries()) {
      assert.equal(view.state, 'standby', view.name)
      assert.equal(view.start_count, before[index]?.start_count, view.name)
      assert.equal(view.snapshot?.uuid, before[index]?.snapshot?.uuid, view.name)
    }
    await verifyMembers(stack, sleepers)
    await awake.ask()
  })

  it('sleep on after everything was killed at once, and VMs that ran are started again by their policy', async () => {
    await fallAsleep()
    // All processes of the stack are halted first, so that none of them sees another one end.
    const all = stopFamily(stack.supervisorPid)
    const machines = [...virtualMachinesByInstance(stack.dataDir).values()].flat()
    signalAll([...machines, ...all], 'SIGKILL')
    await stack.ended()
    await stack.startAgain()
    for (const member of sleepers) assert.equal((await member.view()).state, 'standby', member.name)
    await verifyMembers(stack, sleepers)
    await until('the one that ran runs', async () => (await awake.view()).state === 'running', {
      limitMs: 60_000,
    })
    await awake.ask()
    assert.deepEqual(
      [...virtualMachinesByInstance(stack.dataDir).values()].map((pids) => pids.length),
      [1],
    )
  })

  it('run on, in the same VM, when their agent is asked to end, and when the main process is killed', async () => {
    await awake.ask()
    const before = await awake.view()
    const machines = () => virtualMachinesByInstance(stack.dataDir).get(awake.uuid) ?? []
    const [pid] = machines()
    const isSame = async (counted: number) => {
      await awake.ask()
      assert.ok((awake.answers.at(-1) ?? 0) > counted, 'its application counts on')
      assert.deepEqual(machines(), [pid])
      assert.equal((await awake.view()).start_count, before.start_count)
    }
    const agent = stack.pidOf('agent')
    const seen = stack.output().length
    process.kill(agent, 'SIGTERM')
    await until('the agent is back', () => stack.output().slice(seen).includes('agent is ready again'), {
      limitMs: 30_000,
    })
    assert.notEqual(stack.pidOf('agent'), agent)
    await isSame(awake.answers.at(-1) ?? 0)
    process.kill(stack.supervisorPid, 'SIGKILL')
    await stack.ended()
    await stack.startAgain()
    await isSame(awake.answers.at(-1) ?? 0)
  })

  it('whose VM is killed say so, and are started again by their policy', async () => {
    const member = await addMember({ stack, names }, 'shot', {
      scale_to_zero: kept,
      restart_policy: 'always',
    })
    await member.ask()
    const [pid] = virtualMachinesByInstance(stack.dataDir).get(member.uuid) ?? []
    assert.ok(pid !== undefined)
    process.kill(pid, 'SIGKILL')
    const view = await until(
      'it is started again',
      async () => {
        const seen = await member.view()
        return (seen.restart_count ?? 0) === 1 && seen
      },
      { limitMs: 30_000 },
    )
    assert.equal(view.uuid, member.uuid)
    member.answers.splice(0)
    await member.ask()
    assert.equal(member.answers.at(-1), 1)
    await untilAsleep(stack, member.uuid)
  })
})
