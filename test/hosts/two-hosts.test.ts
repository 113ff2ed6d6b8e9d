import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { autoscale, clonesOf, publishMaster, untilSize } from '../support/autoscaled-service.ts'
import type { AutoscaledService } from '../support/autoscaled-service.ts'
import { killServing } from '../support/gateway-deaths.ts'
import { hostNames, meshKey, meshPeers, openHostPair } from '../support/host-pair.ts'
import type { HostPair } from '../support/host-pair.ts'
import { inTime } from '../support/in-time.ts'
import { runInstance, viewOf, waitFor } from '../support/instances.ts'
import { LaneTraffic, assertNoneLost, tellLost } from '../support/lane-traffic.ts'
import type { LostRequest } from '../support/lane-traffic.ts'
import { linePort, untilAsleep } from '../support/published-instance.ts'
import { publishSleepers } from '../support/published-service.ts'
import type { PublishedService } from '../support/published-service.ts'
import { beginLoad, endLoads } from '../support/steady-load.ts'
import { until } from '../support/until.ts'
import { publishVersion, removeVersions, untilPhase } from '../support/versioned-service.ts'
import type { VersionedService } from '../support/versioned-service.ts'

const limitMs = 90_000
const perSecond = 20

/** What nobody may read on the wire, by the way that it takes. */
const words = {
  environment: 'a-word-in-an-environment',
  nextEnvironment: 'a-word-in-the-next-environment',
  http1: 'a-word-in-a-body-of-http-1',
  http2: 'a-word-in-a-body-of-http-2',
  webSocket: 'a-word-in-a-web-socket',
  line: 'a-word-in-a-line-of-tcp',
  volume: 'a-word-on-a-volume',
} as const
/** What is said on the wire on purpose. The last one is said in base64. */
const plain = ['said-plainly-at-the-start', 'said-plainly-at-the-end', 'said-plainly-in-base64'] as const
/** A port on which nothing listens (RFC 863). */
const discardPort = 9

describe('instances on two further hosts', function () {
  let pair: HostPair
  /** One instance on each host, which answers with its name. */
  let greeters: VersionedService
  /** One instance on each host, which sleeps without traffic and keeps its memory. */
  let sleepers: PublishedService

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    pair = await openHostPair()
    say('h2', plain[0])
  })
  afterEach(async () => await endLoads())
  after(async () => await pair?.remove())

  /** Sends a text to the other host as it is. */
  function say(from: 'h2' | 'h3', words: string): void {
    const { h2, h3 } = pair.machines
    const [speaker, to] = from === 'h2' ? [h2, h3.address] : [h3, h2.address]
    speaker.run('bash', '-c', `printf '%s' "$0" > "/dev/udp/$1/${discardPort}"`, words, to)
  }

  const metricsOf = async ({ instances }: PublishedService) =>
    await Promise.all(
      instances.map(async (object) => await pair.stack.api.one('getInstanceMetrics', { object })),
    )

  /** Opens a WebSocket to each instance of a service whose soft limit is 1. */
  async function holdBoth(service: PublishedService): Promise<readonly WebSocket[]> {
    const held: WebSocket[] = []
    for (const _ of service.instances) held.push(await pair.names.websocket(`wss://${service.host}/ws`))
    const each = async () => (await metricsOf(service)).every(({ nreqs }) => nreqs === 1)
    await until('each instance has one', each, { limitMs })
    await pair.verifyApart(service.instances)
    return held
  }

  /** Returns how often the instance was asked since its memory began. */
  async function tell(socket: WebSocket): Promise<number> {
    const answered = once(socket, 'message') as Promise<[MessageEvent]>
    socket.send(words.webSocket)
    const [message] = await inTime('the WebSocket answers', answered)
    const data = String(message.data)
    assert.match(data, new RegExp(`^\\d+ ${words.webSocket}$`))
    return Number.parseInt(data)
  }

  async function release(held: readonly WebSocket[], service: PublishedService): Promise<void> {
    for (const socket of held) socket.close()
    for (const uuid of service.instances) await untilAsleep(pair.stack, uuid)
  }

  /** Asks with several requests at a time until both instances have answered. */
  async function untilBothAnswer(ask: () => Promise<string>): Promise<void> {
    const seen = new Set<string>()
    await until(
      'both instances answer',
      async () => {
        for (const answer of await Promise.all(Array.from({ length: 4 }, ask))) seen.add(answer.trim())
        assert.ok(seen.size <= 2, [...seen].join())
        return seen.size === 2
      },
      { limitMs },
    )
    assert.deepEqual([...seen].sort(), await greetings())
  }

  /** What the instances of `greeters` answer. */
  async function greetings(): Promise<readonly string[]> {
    const views = await Promise.all(greeters.instances.map((uuid) => viewOf(pair.stack.api, uuid)))
    return views.map(({ name }) => `Hello from ${name}`).sort()
  }

  it('are on different hosts if they are of one service, and HTTP reaches both', async () => {
    const { names, stack, verifyApart } = pair
    greeters = await publishVersion(stack, 'greeter', { replicas: 1, env: { WORD: words.environment } })
    await verifyApart(greeters.instances)
    const { host } = greeters
    await untilBothAnswer(async () => (await names.get(`https://${host}/`, { body: words.http1 })).text)
    const socket = await names.connect(host, 443, ['h2'])
    assert.equal(socket.alpnProtocol, 'h2')
    const session = connect(`https://${host}`, { createConnection: () => socket })
    await untilBothAnswer(async () => {
      const stream = session.request({ ':method': 'POST', ':path': '/' })
      stream.end(words.http2)
      return await inTime('HTTP/2 is answered', text(stream))
    })
    session.destroy()
  })

  it('are woken on both hosts, and get WebSockets and TCP', async () => {
    const { names, stack } = pair
    sleepers = await publishSleepers(stack, 'sleeper', { count: 2, softLimit: 1 })
    const held = await holdBoth(sleepers)
    for (const socket of held) assert.equal(await tell(socket), 1, 'a fresh application answers')
    const lines = [await names.connect(sleepers.host, linePort), await names.connect(sleepers.host, linePort)]
    for (const socket of lines) {
      socket.write(`${words.line}\n`)
      const [answer] = await inTime('the line is answered', once(socket, 'data'))
      assert.equal(String(answer), `2 ${words.line}\n`)
    }
    assert.deepEqual(
      (await metricsOf(sleepers)).map(({ nconns }) => nconns),
      [1, 1],
    )
    for (const socket of lines) socket.destroy()
    await release(held, sleepers)
  })

  it('are woken with their memory on both hosts', async () => {
    const held = await holdBoth(sleepers)
    for (const socket of held) assert.equal(await tell(socket), 3)
    await release(held, sleepers)
  })

  it('get clones on the other host under load, and give them back', async () => {
    const { names, stack, verifyApart } = pair
    const scaled: AutoscaledService = await publishMaster(stack, 'scaled', { image: 'counter' })
    const steps = [
      { upper_bound: 2, adjustment: -1 },
      { lower_bound: 2, adjustment: 1 },
    ]
    const policies = [{ name: 'crowd', type: 'step', metric: 'in_flight', steps }] as const
    await autoscale(stack, scaled, { max_size: 2, policies })
    const waiting = Array.from({ length: 6 }, () => ({ path: '/slow?ms=500', pauseMs: 0 }))
    const load = beginLoad(names, scaled.host, waiting)
    const grown = await untilSize(stack, scaled, 2)
    await verifyApart(grown.map(({ uuid }) => uuid))
    const [clone] = await clonesOf(stack, scaled)
    const isAsked = async () => ((await viewOf(stack.api, clone!.uuid)).ntotal ?? 0) > 10
    await until('the clone serves', isAsked, { limitMs })
    await load.end()
    const [left] = await untilSize(stack, scaled, 1)
    assert.equal(left?.uuid, scaled.master)
    await stack.api.one('deleteAutoscale', { object: scaled.uuid })
    await stack.api.one('deleteInstances', { object: scaled.master })
    await stack.api.one('deleteServices', { object: scaled.uuid })
  })

  /** Has traffic before, during and after a death. Returns the requests that were lost. */
  async function around(death: () => Promise<void>): Promise<readonly LostRequest[]> {
    const traffic = new LaneTraffic(pair.names, { name: 'greeter', host: greeters.host }, perSecond)
    try {
      for (const die of [async () => undefined, death]) {
        await die()
        const wanted = await greetings()
        // A gateway that leaves serves for some seconds more, and may know one of the instances alone.
        const isServed = async (): Promise<boolean> =>
          isDeepStrictEqual(Object.keys(await traffic.next(perSecond)).sort(), wanted)
        await until('both hosts answer', isServed, { limitMs })
      }
    } finally {
      await traffic.end()
    }
    return traffic.lost
  }

  // These have no part in the way of a request to an instance that is awake.
  const deaths = {
    'the API': async () => await pair.stack.killPart('api'),
    'the worker': async () => await pair.stack.killPart('worker'),
    'the main process of the gateway': async () => await pair.stack.killPart('gateway'),
    'the agent of the gateway’s machine': async () => await pair.stack.killPart('agent'),
    'the agents of both hosts': async () => {
      await Promise.all(hostNames.map(async (name) => await pair.machines[name].killPart('agent')))
    },
  }
  for (const [what, death] of Object.entries(deaths)) {
    it(`answer every request, and from both hosts, around the death of ${what}`, async () => {
      assert.equal(tellLost(await around(death)), '')
    })
  }

  const gatewayDeaths = {
    'the gateway with all its processes': async () => await pair.stack.killPart('gateway', 'group'),
    'one of its serving processes': async () => await killServing(pair.stack),
  }
  for (const [what, death] of Object.entries(gatewayDeaths)) {
    it(`lose what is open at the gateway at the death of ${what}, and nothing that comes after it is back`, async () => {
      let backMs = 0
      const lost = await around(async () => {
        await death()
        backMs = performance.now()
      })
      const wrong = lost.filter(({ isBroken, sentMs }) => !isBroken || sentMs > backMs)
      assert.equal(tellLost(wrong), '')
      console.log(`      ${lost.length} requests were open at it, or came before it was back`)
    })
  }

  it('are replaced by a rollout on both hosts, and it goes back, without a lost request', async () => {
    const { names, stack, verifyApart } = pair
    const { service, host, instances } = greeters
    const traffic = new LaneTraffic(names, { name: 'greeter', host }, perSecond)
    const body = { env: { WORD: words.nextEnvironment }, canary: [50, 100], bake_s: 2, keep_s: 600 }
    await stack.api.one('createRollouts', { object: service, body })
    const { phase, reason } = await untilPhase(stack, service, 'kept', 'returned')
    assert.equal(phase, 'kept', reason)
    const { instances: next = [] } = await stack.api.one('getServices', { object: service })
    await verifyApart(next.map(({ uuid }) => uuid))
    assert.ok(next.every(({ uuid }) => !instances.includes(uuid)))
    await stack.api.one('rollBackServices', { object: service })
    await untilPhase(stack, service, 'returned')
    await verifyApart(instances)
    await traffic.next(perSecond)
    await traffic.end()
    assertNoneLost([traffic], 'in the rollout')
    // Two of the old version, and two of the new one.
    assert.equal(new Set(traffic.answers).size, 4, [...new Set(traffic.answers)].join())
  })

  it('keep what is on a volume through a stop, and through a rollout on the same host', async () => {
    const { hostOf, names, roost, stack } = pair
    const service = await stack.api.one('createServices', {
      body: {
        name: 'shelf',
        services: [{ port: 443, destination_port: 8080, handlers: ['http', 'tls'] }],
        domains: [{ name: 'shelf' }],
      },
    })
    const host = String(service.domains[0]?.fqdn)
    const { uuid } = await runInstance(stack.api, {
      name: 'shelf',
      image: 'busybox',
      args: ['httpd', '-f', '-p', '8080', '-h', '/data'],
      volumes: [{ size_mb: 16, at: '/data' }],
      service_group: { uuid: service.uuid },
    })
    const write = `printf %s ${words.volume} > /data/index.html`
    const { code, err } = await roost.run(['exec', 'shelf', '--', 'sh', '-c', write])
    assert.equal(code, 0, err)
    await stack.api.one('stopInstances', { object: uuid })
    await waitFor(stack.api, uuid, 'stopped')
    await stack.api.one('startInstances', { object: uuid })
    await waitFor(stack.api, uuid, 'running')
    const traffic = new LaneTraffic(names, { name: 'shelf', host })
    await traffic.next(1)
    const body = { env: { ANOTHER: 'version' }, bake_s: 0, keep_s: 600 }
    await stack.api.one('createRollouts', { object: service.uuid, body })
    const { phase, reason } = await untilPhase(stack, service.uuid, 'kept', 'returned')
    assert.equal(phase, 'kept', reason)
    await traffic.next(perSecond)
    await traffic.end()
    assertNoneLost([traffic], 'while the volume was handed over')
    assert.deepEqual(new Set(traffic.answers), new Set([words.volume]))
    const next = await viewOf(stack.api, 'shelf')
    assert.notEqual(next.uuid, uuid)
    assert.equal(await hostOf(next.uuid), await hostOf(uuid))
    await removeVersions(stack, service.uuid)
  })

  it('leave nothing of a host in the mesh once that is removed', async () => {
    const { machines, roost, stack } = pair
    await stack.api.call('deleteInstances', { body: sleepers.instances.map((uuid) => ({ uuid })) })
    await removeVersions(stack, greeters.service)
    const others = [stack.dataDir, machines.h2.dataDir]
    const key = meshKey(machines.h3.dataDir)
    for (const other of others) assert.ok(meshPeers(other).includes(key), 'h3 is in the mesh')
    const isRemoved = async () => (await roost.run(['host', 'remove', 'h3'])).code === 0
    await until('h3 has nothing, and is removed', isRemoved, { limitMs })
    for (const other of others)
      await until('h3 is out of the mesh', () => !meshPeers(other).includes(key), { limitMs: 10_000 })
  })

  it('let nothing be read on the wire between the machines', async () => {
    const { joinTokens, machines, recording, stack } = pair
    say('h3', plain[1])
    say('h2', Buffer.from(JSON.stringify({ said: plain[2] })).toString('base64'))
    const frames = await recording.stop()
    assert.deepEqual(frames.seen(plain), plain, 'what is plain is seen')
    const fileOf = (...place: readonly string[]) => readFileSync(path.join(...place), 'utf8').trim()
    const secrets = [
      ...Object.values(words),
      ...joinTokens,
      ...hostNames.map((name) => fileOf(machines[name].dataDir, 'agent', 'agent-secret')),
      fileOf(stack.dataDir, 'keys', 'gateway-token'),
      stack.token,
      'Bearer ',
      'instanceUuid',
      'Hello from ',
    ]
    assert.deepEqual(frames.seen(secrets), [])
    console.log(`      ${Math.round(frames.byteCount / 1_000_000)} MB were searched`)
  })
})
