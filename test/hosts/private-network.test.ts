import assert from 'node:assert/strict'
import type { ApiClient } from '../support/api-client.ts'
import { asksShell, servedShell, sh, shellAnswers, shellPort } from '../support/guest-shell.ts'
import { layWire } from '../support/host-machines.ts'
import type { Wire } from '../support/host-machines.ts'
import { runInstance, viewOf } from '../support/instances.ts'
import type { InstanceView } from '../support/instances.ts'
import { virtualMachinesOf } from '../support/processes.ts'
import { linePort, untilAsleep } from '../support/published-instance.ts'
import { asNewUser } from '../support/roost-command.ts'
import { createRoostProgram } from '../support/roost-program.ts'
import { startStack } from '../support/stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const hosts = ['local', 'h2', 'h3'] as const
type HostName = (typeof hosts)[number]

const limitMs = 60_000
/** How long a try to reach somebody lasts who must not be reached. */
const triedS = 2
const cooldownMs = 1_000
const muchBytes = 3_000_000

/** Instances of two users on each of three hosts. */
describe('instances of one user on several hosts', function () {
  let wire: Wire
  let stack: Stack
  let bob: ApiClient
  const anns = new Map<HostName, InstanceView>()
  const bobs = new Map<HostName, InstanceView>()
  let cold: InstanceView
  let warm: InstanceView

  before(async () => {
    wire = layWire(['h2', 'h3'])
    stack = await startStack({ ROOST_HOSTS_ADDRESS: wire.address })
    const roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
    try {
      for (const machine of wire.machines) {
        const { out } = await roost.run(['host', 'invite'])
        assert.ok((await machine.join(out.trim().split(' ').slice(3))).isHost, machine.output())
      }
    } finally {
      await roost.remove()
    }
    bob = await asNewUser(stack, 'bob')
    for (const host of hosts) {
      await placeOn(host)
      const shell = { name: `on-${host}`, ...servedShell }
      const [annsOne, bobsOne] = await Promise.all([runInstance(stack.api, shell), runInstance(bob, shell)])
      anns.set(host, annsOne)
      bobs.set(host, bobsOne)
      await Promise.all([annsOne, bobsOne].map(shellAnswers))
    }
    const asleep = { policy: 'on', cooldown_time_ms: cooldownMs }
    await placeOn('h2')
    cold = await runInstance(stack.api, { name: 'cold', image: 'counter', scale_to_zero: asleep })
    await placeOn('h3')
    const stateful = { ...asleep, stateful: true }
    warm = await runInstance(stack.api, { name: 'warm', image: 'counter', scale_to_zero: stateful })
  })
  after(async () => {
    await bob?.close()
    for (const machine of wire?.machines ?? []) await machine.stop()
    await stack?.remove()
    await wire?.remove()
  })

  /** Leaves one host to what is created next. */
  async function placeOn(host: HostName): Promise<void> {
    await stack.api.one('uncordonHosts', { object: host })
    for (const other of hosts) if (other !== host) await stack.api.one('cordonHosts', { object: other })
  }
  /** Sends a line to an instance of ann's; the counter answers it with its count. */
  const line = async (from: HostName, to: string): Promise<string> =>
    await sh(anns.get(from)!, `echo hello | nc -w60 ${to}.internal ${linePort}`)
  const asks = async (from: InstanceView, to: string): Promise<string> => await asksShell(from, to, triedS)

  it('are on the hosts where the test wants them', async () => {
    const networks = [...anns.values()].map(({ private_ip: ip }) => ip?.split('.').slice(0, 3).join('.'))
    assert.equal(new Set(networks).size, hosts.length, networks.join(' '))
  })

  it('find each other by name and by address, in all directions', async () => {
    for (const from of hosts) {
      for (const to of hosts) {
        const { private_ip: ip = '' } = anns.get(to)!
        const reached = async () => (await asks(anns.get(from)!, `on-${to}.internal`)).includes(`on-${to}\n`)
        await until(`${from} reaches ${to}`, reached, { limitMs })
        assert.match(await asks(anns.get(from)!, ip), new RegExp(`^on-${to}$`, 'm'))
        const reverse = await sh(anns.get(from)!, `nslookup ${ip}`)
        assert.match(reverse, new RegExp(`on-${to}\\.internal`), `${from} knows the name of ${ip}`)
      }
    }
  })

  it('are closed to every other user, whoever is on which host', async () => {
    const tries = [anns, bobs].flatMap((mine) =>
      hosts.map(async (from) => {
        const theirs = mine === anns ? bobs : anns
        for (const to of hosts) {
          const { private_ip: ip = '' } = theirs.get(to)!
          assert.doesNotMatch(await asks(mine.get(from)!, ip), /^on-|ended 0/m, `${from} to ${to}`)
          // Both users have the same names. Each user's lead to the user's own instances.
          const found = await sh(mine.get(from)!, `nslookup -type=a on-${to}.internal`)
          assert.ok(found.includes(`Address: ${mine.get(to)!.private_ip}\n`), found)
          assert.ok(!found.includes(ip), found)
        }
      }),
    )
    await Promise.all(tries)
  })

  it('carry large answers to each other', async () => {
    const order = `echo 'head -c ${muchBytes} /dev/zero; exit' | nc -w60 on-h3.internal ${shellPort} | wc -c`
    assert.match(await sh(anns.get('h2')!, order), new RegExp(`^${muchBytes}$`, 'm'))
  })

  it('wake those in standby on other hosts, cold and with their memory', async () => {
    let count = Number.parseInt(await line('h2', 'warm'), 10)
    for (const from of ['local', 'h2'] as const) {
      assert.notEqual((await untilAsleep(stack, warm.uuid)).snapshot, undefined)
      count += 1
      assert.match(await line(from, 'warm'), new RegExp(`^${count} hello$`, 'm'))
    }
    await untilAsleep(stack, cold.uuid)
    const answers = async () => /^1 hello$/m.test(await line('h3', 'cold'))
    // A cold start may take longer than a connection of the guest is tried.
    await until('the cold one answers', answers, { limitMs })
  })

  it('keep each other awake while they speak', async () => {
    await line('local', 'warm')
    const speaking = `i=0; while [ $i -lt 20 ]; do echo hi; i=$((i+1)); sleep 0.2; done | nc warm.internal ${linePort} | wc -l`
    const spoke = sh(anns.get('local')!, speaking)
    let wasAsleep = false
    const watched = setInterval(() => (wasAsleep ||= virtualMachinesOf(warm.uuid).length === 0), 100)
    const lines = await spoke.finally(() => clearInterval(watched))
    assert.match(lines, /^20$/m)
    assert.equal(wasAsleep, false)
    await untilAsleep(stack, warm.uuid)
  })

  it('are not woken by others on other hosts', async () => {
    await untilAsleep(stack, warm.uuid)
    const { start_count: before } = await viewOf(stack.api, warm.uuid)
    for (const host of hosts)
      assert.doesNotMatch(
        await sh(bobs.get(host)!, `echo hello | nc -w${triedS} ${warm.private_ip} ${linePort}`),
        /hello|ended 0/,
      )
    assert.equal(virtualMachinesOf(warm.uuid).length, 0)
    assert.equal((await viewOf(stack.api, warm.uuid)).start_count, before)
  })

  it('are known on all hosts when they come, and forgotten when they go', async () => {
    await placeOn('h3')
    const { uuid } = await stack.api.one('createInstances', { body: { name: 'fleeting', image: 'busybox' } })
    const { private_ip: ip } = await viewOf(stack.api, uuid)
    const found = async () => await sh(anns.get('h2')!, 'nslookup -type=a fleeting.internal')
    await until('it has a name', async () => (await found()).includes(`Address: ${ip}\n`), { limitMs })
    await stack.api.one('deleteInstances', { object: uuid })
    await until('its name is gone', async () => (await found()).includes('NXDOMAIN'), { limitMs })
  })

  it('go on reaching each other when an agent was killed', async () => {
    const [machine] = wire.machines
    const agent = machine!.pidOf('agent')
    assert.ok(agent !== undefined)
    process.kill(agent, 'SIGKILL')
    await until('another agent is there', () => ![undefined, agent].includes(machine!.pidOf('agent')), {
      limitMs,
    })
    for (const [from, to] of [
      ['local', 'h2'],
      ['h2', 'h3'],
    ] as const) {
      const reached = async () => (await asks(anns.get(from)!, `on-${to}.internal`)).includes(`on-${to}\n`)
      await until(`${from} reaches ${to} again`, reached, { limitMs })
    }
    assert.doesNotMatch(await asks(bobs.get('local')!, anns.get('h2')!.private_ip!), /^on-|ended 0/m)
  })
})
