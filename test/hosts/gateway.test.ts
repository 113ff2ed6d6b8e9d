import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { connect } from 'node:tls'
import { createRoostProgram } from '../support/roost-program.ts'
import type { RoostProgram } from '../support/roost-program.ts'
import { layWire } from '../support/host-machines.ts'
import type { Machine, Wire } from '../support/host-machines.ts'
import { LaneTraffic, assertNoneLost } from '../support/lane-traffic.ts'
import { viewOf } from '../support/instances.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { publish, untilAsleep } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { RoamingClient } from '../support/roaming-client.ts'
import { startStack } from '../support/stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'
import { publishVersion, removeVersions } from '../support/versioned-service.ts'

const limitMs = 60_000
/** How many requests of each kind are answered between two deaths. The rarer one is sent twice a second. */
const roundAnswers = 6
/** Each gateway has as many serving processes as on a machine with three cores. */
const twoProcesses = { ROOST_GATEWAY_PROCESSES: '2' }
/** A removed gateway loses the API within a second, and instances with the next heartbeats. */
const cutLimitMs = 20_000

describe('a machine that joined as a gateway', () => {
  let wire: Wire
  let stack: Stack
  let roost: RoostProgram
  let machine: Machine
  /** The public as it comes by the first gateway, and by the one that joined. */
  let first: PublicNames
  let second: PublicNames
  let warm: Published

  before(async () => {
    wire = layWire(['h2'])
    machine = wire.machines[0]!
    stack = await startStack({ ROOST_HOSTS_ADDRESS: wire.address, ...twoProcesses })
    roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
    first = openPublicNames(stack)
    second = openPublicNames(stack, { address: machine.address })
  })
  after(async () => {
    await Promise.all([first?.close(), second?.close()])
    await roost?.remove()
    await machine?.stop()
    await stack?.remove()
    await wire?.remove()
  })

  const countBy = async (names: Pick<PublicNames, 'get'>, { host }: Published) =>
    (await names.get(`https://${host}/count`)).text.trim()

  it('joins cordoned with the line that was printed', async () => {
    const { out, err, code } = await roost.run(['host', 'invite', '--role', 'gateway'])
    assert.equal(code, 0, err)
    const line = /^npx roost join (\S+) (\S+)\n$/.exec(out)?.slice(1)
    assert.ok(line, out)
    // The metro domain of tests is below localhost, where a gateway listens on the loopback alone.
    const outcome = await machine.join(line, {
      ROOST_GATEWAY_HOST: machine.address,
      ...twoProcesses,
    })
    assert.ok(outcome.isHost, machine.output())
    const listed = await roost.run(['host', 'list', 'h2'])
    assert.match(listed.out, /^h2 +live, cordoned +gateway /m)
    assert.match((await roost.run(['host', 'show', 'h2'])).out, /h2 is live, has the role gateway/)
    const pid = machine.pidOf('gateway')
    assert.ok(pid !== undefined)
    assert.notEqual(statSync(`/proc/${pid}`).uid, 0, 'it runs as a user of its own')
  })

  it('serves an instance of the first machine, awake and after both kinds of sleep', async () => {
    const scaleToZero = { policy: 'on', cooldown_time_ms: 500 }
    warm = await publish(stack, 'warm', { scale_to_zero: { ...scaleToZero, stateful: true } })
    const cold = await publish(stack, 'cold', { scale_to_zero: scaleToZero })
    for (const { uuid } of [warm, cold])
      assert.match((await viewOf(stack.api, uuid)).state ?? '', /running|standby/)
    assert.equal(await countBy(second, warm), '1')
    assert.equal(await countBy(second, cold), '1')
    for (const { uuid } of [warm, cold]) await untilAsleep(stack, uuid)
    assert.equal(await countBy(second, cold), '1', 'a fresh application answers')
    assert.equal(await countBy(second, warm), '2', 'the memory was kept')
    assert.equal(await countBy(first, warm), '3', 'both gateways reach the same instance')
    await stack.api.one('deleteInstances', { object: cold.uuid })
  })

  it('serves plain HTTP as the first gateway does', async () => {
    const [one, other] = [await first.get(`http://${warm.host}/`), await second.get(`http://${warm.host}/`)]
    assert.deepEqual([other.status, other.headers['location']], [one.status, one.headers['location']])
    assert.match(String(other.headers['location']), /^https:/)
  })

  it('serves an instance on its own host', async () => {
    await stack.api.one('uncordonHosts', { object: 'h2' })
    await stack.api.one('cordonHosts', { object: 'local' })
    const there = await publish(stack, 'there', {})
    await stack.api.one('uncordonHosts', { object: 'local' })
    for (const [names, expected] of [
      [second, '1'],
      [first, '2'],
    ] as const)
      assert.equal(await countBy(names, there), expected)
    await stack.api.one('deleteInstances', { object: there.uuid })
  })

  it('shows the same certificate of the metro domain', async () => {
    const fingerprints = await Promise.all(
      ['127.0.0.1', machine.address].map(async (host) => await fingerprintAt(host, warm.host)),
    )
    assert.equal(fingerprints[0], fingerprints[1])
  })

  it('leads to the API, which still asks for a token, and to none of its paths for parts', async () => {
    const url = 'https://api.roost.localhost'
    assert.equal((await second.get(`${url}/v1/instances`)).status, 401)
    const headers = { authorization: `Bearer ${stack.token}` }
    assert.equal((await second.get(`${url}/v1/instances`, { headers })).status, 200)
    for (const path of ['/internal/gateway/routes', '/internal/nodes/h2/instances', '/metrics'])
      assert.equal((await second.get(`${url}${path}`, { headers })).status, 404, path)
    assert.equal((await second.get('https://registry.roost.localhost/v2/')).status, 401)
  })

  it('serves on while the API is away, and after a restart of its own', async () => {
    const pid = machine.pidOf('gateway')
    assert.ok(pid !== undefined)
    const api = stack.pidOf('api')
    process.kill(api, 'SIGSTOP')
    try {
      // With all its processes.
      process.kill(-pid, 'SIGKILL')
      await until('another gateway is there', () => ![undefined, pid].includes(machine.pidOf('gateway')), {
        limitMs,
      })
      await until(
        'it serves by its last routes',
        async () =>
          (await second.get(`https://${warm.host}/`, { limitMs: 5_000 }).catch(() => undefined))?.status ===
          200,
        { limitMs },
      )
    } finally {
      process.kill(api, 'SIGCONT')
    }
  })

  /** Opens traffic of 20 requests a second. Half of it prefers the first address, and half the other one. */
  async function openTraffic() {
    const greeters = await publishVersion(stack, 'greeter', { replicas: 1 })
    const on = await Promise.all(
      greeters.instances.map(async (object) => (await stack.api.one('explainInstances', { object })).host),
    )
    assert.deepEqual(new Set(on), new Set(['local', 'h2']), 'one is on each machine')
    const slow = await publish(stack, 'slow')
    const greeter = { name: 'greeter', host: greeters.host }
    // Two of these are always in flight.
    const waiter = { ...slow, path: '/slow?ms=1000' }
    const [one, other] = ['127.0.0.1', machine.address] as const
    const clients = [new RoamingClient(stack, [one, other]), new RoamingClient(stack, [other, one])]
    const lanes = clients.flatMap((client) => [
      new LaneTraffic(client, greeter, 8),
      new LaneTraffic(client, waiter, 2),
    ])
    return {
      clients,
      lanes,
      more: async () => await Promise.all(lanes.map(async (lane) => await lane.next(roundAnswers))),
      async end() {
        await Promise.all(lanes.map(async (lane) => await lane.end()))
        await Promise.all(clients.map(async (client) => await client.close()))
      },
      async remove() {
        await removeVersions(stack, greeters.service)
        await stack.api.one('deleteInstances', { object: slow.uuid })
      },
    }
  }

  it('and the first gateway lose no request of clients that know both, whichever of them or of API and worker dies', async () => {
    await stack.api.one('uncordonHosts', { object: 'h2' })
    const traffic = await openTraffic()
    const deaths = [
      async () => await stack.killPart('api'),
      async () => await stack.killPart('worker'),
      async () => await stack.killPart('gateway', 'group'),
      async () => await machine.killPart('gateway', 'group'),
    ]
    try {
      await traffic.more()
      let count = Number(await countBy(first, warm))
      for (const death of deaths) {
        await untilAsleep(stack, warm.uuid)
        const dying = death()
        const woken = traffic.clients.map(async (client) => Number(await countBy(client, warm)))
        for (const each of await Promise.all(woken)) assert.ok(each > count, 'its memory was kept')
        await dying
        count = Number(await countBy(first, warm))
        await traffic.more()
      }
    } finally {
      await traffic.end()
    }
    assertNoneLost(traffic.lanes, 'around the deaths')
    // Each client met the death of the gateway that it prefers. Otherwise the test would show nothing.
    for (const { preferred, refused, repeated } of traffic.clients) {
      assert.ok((refused.get(preferred) ?? 0) > 0, `${preferred} refused connections`)
      assert.ok(repeated > 0, `connections to ${preferred} broke`)
    }
    await traffic.remove()
  })

  it('has the kernel move what waits at a serving process that dies', function () {
    const setting = '/proc/sys/net/ipv4/tcp_migrate_req'
    if (!existsSync(setting)) this.skip()
    assert.equal(machine.run('cat', setting).trim(), '1')
  })

  it('keeps what its gateway compiled, as the first machine does, for the next start', async () => {
    for (const dataDir of [stack.dataDir, machine.dataDir]) {
      const files = readdirSync(path.join(dataDir, 'gateway', 'compiled'), { recursive: true })
      assert.ok(files.length > 100, `${files.length} files`)
    }
  })

  it('is among those whose metrics and counts the API passes on', async () => {
    const headers = { authorization: `Bearer ${stack.token}` }
    const get = async (path: string) => await fetch(`${stack.apiUrl}${path}`, { headers })
    const targets = (await (await get('/platform/targets')).json()) as readonly {
      readonly labels: { readonly part: string; readonly instance: string }
    }[]
    const names = targets.flatMap(({ labels }) => (labels.part === 'gateway' ? [labels.instance] : []))
    assert.equal(names.length, 2, JSON.stringify(targets))
    assert.ok(names.includes('h2'), JSON.stringify(names))
    const metrics = await get('/platform/metrics?part=gateway&name=h2')
    assert.match(await metrics.text(), /^roost_gateway_/m)
  })

  it('is cut off when it is removed', async () => {
    await until('nothing is left there', async () => (await roost.run(['host', 'remove', 'h2'])).code === 0, {
      limitMs,
    })
    await until(
      'it serves nothing any more',
      async () =>
        (await second.get(`https://${warm.host}/count`, { limitMs: 2_000 }).catch(() => undefined))
          ?.status !== 200,
      { limitMs: cutLimitMs },
    )
    const ended = 'is not a gateway of the installation any more'
    await until('it says why', () => machine.output().includes(ended), { limitMs })
    await until(
      'the first gateway has the share of the one that is gone',
      async () => /^\d+$/.test(await countBy(first, warm)),
      { limitMs: cutLimitMs },
    )
  })
})

async function fingerprintAt(host: string, servername: string): Promise<string | undefined> {
  const socket = connect({ host, port: 443, servername, rejectUnauthorized: false })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once('secureConnect', resolve)
  socket.once('error', reject)
  try {
    await promise
    return socket.getPeerX509Certificate()?.fingerprint256
  } finally {
    socket.destroy()
  }
}
