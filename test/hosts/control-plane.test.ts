import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import process from 'node:process'
import { createApiClient } from '../support/api-client.ts'
import type { ApiClient } from '../support/api-client.ts'
import { layWire } from '../support/host-machines.ts'
import type { Machine, Wire } from '../support/host-machines.ts'
import { logOf, runInstance } from '../support/instances.ts'
import type { InstanceView } from '../support/instances.ts'
import { startOwnServices } from '../support/own-services.ts'
import type { OwnServices } from '../support/own-services.ts'
import { makeNextVersion, upgradeLimitMs, upgradeTo } from '../support/next-version.ts'
import { createRoostProgram } from '../support/roost-program.ts'
import type { RoostProgram } from '../support/roost-program.ts'
import { startStack } from '../support/stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

interface TargetGroup {
  readonly labels: { readonly part: string; readonly instance: string }
}

const limitMs = 60_000
const movedText = 'the API is reached at another address now'
/** Each says something to its log, and goes on. */
const talker = { image: 'busybox', args: ['sh', '-c', 'echo something; exec sleep 3600'] }

describe('a second API and a second worker', () => {
  let wire: Wire
  let services: OwnServices
  let stack: Stack
  let roost: RoostProgram
  /** The first has the two roles, the second none. */
  let control: Machine
  let plain: Machine
  /** The API of the machine that joined. */
  let second: ApiClient
  let local: InstanceView
  let remote: InstanceView

  before(async () => {
    wire = layWire(['h2', 'h3'])
    ;[control, plain] = wire.machines as [Machine, Machine]
    services = await startOwnServices(wire.address)
    stack = await startStack({ ROOST_HOSTS_ADDRESS: wire.address, ...services.settings })
    roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
    second = createApiClient({ url: `http://${control.address}:7070`, token: stack.token })
  })
  after(async () => {
    await second?.close()
    await roost?.remove()
    await Promise.all([control?.stop(), plain?.stop()])
    await stack?.remove()
    await services?.remove()
    await wire?.remove()
  })

  async function lineFor(...options: readonly string[]): Promise<readonly string[]> {
    const { out, err, code } = await roost.run(['host', 'invite', ...options])
    assert.equal(code, 0, err)
    const line = /^npx roost join (\S+) (\S+)\n$/.exec(out)?.slice(1)
    assert.ok(line, out)
    return line
  }
  /** Makes an instance by the second API, on the one host that takes any. */
  async function runOn(name: string, host: string): Promise<InstanceView> {
    for (const one of ['local', 'h3'])
      await stack.api.one(one === host ? 'uncordonHosts' : 'cordonHosts', { object: one })
    return await runInstance(second, { name, ...talker })
  }
  const saysSomething = async (object: string): Promise<void> => {
    await until('its log is told', async () => (await logOf(second, object)).includes('something'), {
      limitMs,
    })
  }

  it('join with the line that was printed, and run as users of their own', async () => {
    const line = await lineFor('--role', 'api', '--role', 'worker')
    assert.ok((await control.join(line, { ROOST_API_HOST: control.address })).isHost, control.output())
    assert.ok((await plain.join(await lineFor())).isHost, plain.output())
    assert.match((await roost.run(['host', 'list'])).out, /^h2 +live, cordoned +api, worker /m)
    for (const part of ['api', 'worker']) {
      const pid = control.pidOf(part)
      assert.ok(pid !== undefined, `${part} runs`)
      assert.notEqual(statSync(`/proc/${pid}`).uid, 0, `${part} is not root`)
      assert.equal(plain.pidOf(part), undefined)
    }
  })

  it('serve the same installation', async () => {
    local = await runOn('here', 'local')
    remote = await runOn('there', 'h3')
    for (const { uuid, name } of [local, remote]) {
      assert.equal((await stack.api.one('getInstances', { object: uuid })).name, name)
      await saysSomething(uuid)
    }
    const { out, code, err } = await roost.run(['exec', 'here', '--', 'echo', 'by the second API'], {
      env: { ROOST_ADDRESS: `http://${control.address}:7070` },
    })
    assert.deepEqual([out, code], ['by the second API\n', 0], err)
  })

  it('are among the parts whose metrics each API passes on', async () => {
    for (const url of [stack.apiUrl, `http://${control.address}:7070`]) {
      const read = async (path: string) =>
        await fetch(new URL(path, url), { headers: { authorization: `Bearer ${stack.token}` } })
      const groups = (await (await read('/platform/targets')).json()) as readonly TargetGroup[]
      const parts = groups.map(({ labels }) => labels).filter(({ part }) => part !== 'agent')
      const counts = ['api', 'worker', 'gateway'].map(
        (one) => parts.filter(({ part }) => part === one).length,
      )
      assert.deepEqual(counts, [2, 2, 1], JSON.stringify(parts))
      for (const { part, instance: name } of parts) {
        const metrics = await read(`/platform/metrics?${new URLSearchParams({ part, name }).toString()}`)
        assert.equal(metrics.status, 200, `${part} ${name} by ${url}`)
        assert.match(await metrics.text(), /^process_cpu_seconds_total |^# TYPE /m)
      }
    }
  })

  it('take the place of a first API and a first worker that hang', async () => {
    // The machines learn of a further API within some seconds.
    await until('the plain machine knows both', () => plain.output().includes(`${control.address}:7075`), {
      limitMs,
    })
    const hanging = [stack.pidOf('api'), stack.pidOf('worker')]
    const hungMs = performance.now()
    for (const pid of hanging) process.kill(pid, 'SIGSTOP')
    try {
      await until('the plain machine uses the second API', () => plain.output().includes(movedText), {
        limitMs,
      })
      console.log(`      the other API is used after ${Math.round(performance.now() - hungMs)} ms`)
      const made = await runInstance(second, { name: 'meanwhile', ...talker })
      await saysSomething(made.uuid)
      await second.one('deleteInstances', { object: made.uuid })
      const hosts = await second.call('getHosts', {})
      assert.equal(hosts.find(({ name }) => name === 'h3')?.state, 'live')
    } finally {
      for (const pid of hanging) process.kill(pid, 'SIGCONT')
    }
  })

  it('give their place back when they die', async () => {
    const moves = () => plain.output().split(movedText).length
    const before = moves()
    await Promise.all([control.killPart('api'), control.killPart('worker')])
    await until('the plain machine uses the first API again', () => moves() > before, { limitMs })
    await stack.api.one('stopInstances', { object: remote.uuid })
    await stack.api.one('startInstances', { object: remote.uuid })
    await saysSomething(remote.uuid)
  })

  it('are of the next version after an upgrade of their machine, and serve on', async function () {
    this.timeout(upgradeLimitMs + limitMs)
    const version = makeNextVersion('0.1.1')
    try {
      await version.setUp()
      const pids = () => ['api', 'worker', 'agent'].map((part) => control.pidOf(part))
      const before = pids()
      const { code, text } = await upgradeTo(version, control.dataDir)
      assert.equal(code, 0, text)
      const after = pids()
      assert.ok(after.every((pid, index) => pid !== undefined && pid !== before[index]))
      for (const pid of after)
        assert.ok(readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(version.checkout), 'it runs its code')
      assert.equal((await second.call('getHosts', {})).length, 3)
      const seen = async () => (await roost.run(['host', 'list', 'h2'])).out
      await until('the host tells its version', async () => /0\.1\.1/.test(await seen()), { limitMs })
    } finally {
      version.remove()
    }
  })
})
