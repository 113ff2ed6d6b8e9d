import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:https'
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createNodeClient, NodeUnavailable } from '../../../src/control/host-client.ts'
import type { NodeRecord } from '../../../src/db/host/hosts.ts'
import { agentName } from '../../../src/domain/part-name.ts'
import { PlatformPart } from '../../../src/domain/platform-part.ts'
import { trafficUpgrade } from '../../../src/domain/standby/lease-protocol.ts'
import { HostLink } from '../../../src/gateway/hosts/host-link.ts'
import { agentCallers } from '../../../src/host/agent/agent-callers.ts'
import { createAgentServer } from '../../../src/host/agent/agent-http.ts'
import { ExecServer } from '../../../src/host/exec/exec-server.ts'
import { LeaseServer, trafficSecretOf } from '../../../src/host/leases/lease-server.ts'
import { besideId } from '../../../src/trust/asked-identity.ts'
import { makePartAuthority } from '../../../src/trust/part-authority.ts'
import { clientTls } from '../../../src/trust/part-identity.ts'
import type { PartIdentity } from '../../../src/trust/part-identity.ts'
import type { KeyPairPem } from '../../../src/x509/key-pair.ts'
import { identityOf } from '../../support/part-identities.ts'
import { StandbyScene } from '../leases/standby-scene.ts'
import { uuid } from './machine.ts'

const agentSecret = 'the-secret'
const webSocket = ['websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==']

/** What may be asked of an agent: how, and what the answer is to those who may. */
const endpoints = {
  traffic: { path: '/traffic', secret: trafficSecretOf(agentSecret), upgrade: [trafficUpgrade], status: 101 },
  exec: { path: `/instances/${uuid}/exec`, secret: agentSecret, upgrade: webSocket, status: 101 },
  metrics: { path: '/metrics', secret: agentSecret, upgrade: undefined, status: 200 },
  calls: { path: `/instances/${uuid}/usage?step=5s`, secret: agentSecret, upgrade: undefined, status: 200 },
} as const satisfies Record<keyof typeof agentCallers, object>

const open = ['/healthz', '/readyz'] as const

describe('an agent that listens for other machines', () => {
  let authority: KeyPairPem
  let scene: StandbyScene
  let server: Server
  let url: string
  /** The requests that reached the agent, the newest last. */
  const reached: string[] = []
  const closers: (() => unknown)[] = []
  let leaseServer: LeaseServer
  before(async () => {
    authority = await makePartAuthority(Date.now())
    scene = await StandbyScene.make()
    await scene.nextAgent()
    const { leases } = scene.live.agent
    const { log, vmm } = scene.live.ports
    leaseServer = new LeaseServer({ agentSecret, nodeId: 'h2', leases, log, nowMs: Date.now })
    const execServer = new ExecServer({ agentSecret, leases, vmm, log })
    server = createAgentServer({
      identity: await part(PlatformPart.Agent, 'h2'),
      agentSecret,
      log,
      upgrade: (...given) => {
        if (!execServer.receive(...given)) leaseServer.receive(...given)
      },
      answers: {
        log: async () => await Promise.reject(new Error('not asked for')),
        history: async () => await Promise.resolve([]),
        serviceHistory: async () => await Promise.resolve([]),
        usage: async () => await Promise.resolve({}),
        loads: async () => await Promise.resolve({ atMs: 0, loads: {} }),
        begin: async () => await Promise.resolve(false),
        check: async () => await Promise.reject(new Error('not asked for')),
        awake: (uuids) => leases.awake(uuids),
        hostLease: (instance) => leases.hostLease(instance),
        notReady: () => undefined,
        metrics: async () => await Promise.resolve('a_metric 1\n'),
      },
    })
    for (const event of ['request', 'upgrade'])
      server.on(event, (asked: { readonly url?: string }) => reached.push(asked.url ?? ''))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    closers.push(
      () => leaseServer.close(),
      () => execServer.close(),
    )
  })
  beforeEach(() => {
    reached.length = 0
  })
  after(async () => {
    for (const close of closers) close()
    server.closeAllConnections()
    server.close()
    await scene.machine.remove()
  })

  const part = async (kind: PlatformPart, id = besideId(), by = authority) =>
    await identityOf(by, { part: kind, id })

  /** The status with which the agent answers; 101 if it goes on with another protocol. */
  async function ask(
    { path, secret, upgrade }: { path: string; secret?: string; upgrade?: readonly string[] | undefined },
    identity?: PartIdentity,
  ): Promise<number> {
    const [protocol, ...more] = upgrade ?? []
    const fields = more.map((line) => line.split(': ') as [string, string])
    const asked = request(`${url}${path}`, {
      ...(identity && clientTls(identity)),
      ca: authority.chain,
      servername: agentName('h2'),
      agent: false,
      headers: {
        ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
        ...(protocol !== undefined && { connection: 'Upgrade', upgrade: protocol }),
        ...Object.fromEntries(fields),
      },
    })
    asked.end()
    const [answer] = (await Promise.race([once(asked, 'response'), once(asked, 'upgrade')])) as [
      { statusCode: number },
    ]
    asked.destroy()
    return answer.statusCode
  }

  /** Opens a connection that goes on with another protocol than HTTP. */
  async function openConnection(
    { path, secret, upgrade }: { path: string; secret: string; upgrade: readonly string[] },
    identity: PartIdentity,
  ): Promise<Socket> {
    const asked = request(`${url}${path}`, {
      ...clientTls(identity),
      servername: agentName('h2'),
      agent: false,
      headers: { authorization: `Bearer ${secret}`, connection: 'Upgrade', upgrade: upgrade[0] },
    })
    asked.end()
    const [, socket] = (await once(asked, 'upgrade')) as [unknown, Socket]
    return socket.resume()
  }

  it('lets each kind of part call what it has to, and nothing else', async () => {
    for (const kind of Object.values(PlatformPart)) {
      const identity = await part(kind)
      for (const [name, { status, ...endpoint }] of Object.entries(endpoints)) {
        const permitted: readonly string[] = agentCallers[name as keyof typeof agentCallers]
        const wanted = permitted.includes(kind) ? status : 403
        assert.equal(await ask(endpoint, identity), wanted, `${kind} asks for ${name}`)
      }
    }
    assert.deepEqual(agentCallers, {
      traffic: ['gateway'],
      exec: ['api'],
      metrics: ['api'],
      calls: ['api', 'worker'],
    })
  })

  it('lets nobody in whom the authority does not vouch for, with whatever secret', async () => {
    const other = await makePartAuthority(Date.now())
    for (const [name, { status: _, ...endpoint }] of Object.entries(endpoints)) {
      const [kind] = agentCallers[name as keyof typeof agentCallers]
      assert.equal(await ask(endpoint), 403, `no certificate asks for ${name}`)
      assert.equal(
        await ask(endpoint, await part(kind, besideId(), other)),
        403,
        `another authority asks for ${name}`,
      )
      const old = await identityOf(authority, { part: kind, id: 'a' }, { nowMs: Date.now() - 8 * 86_400_000 })
      assert.equal(await ask(endpoint, old), 403, `an old certificate asks for ${name}`)
    }
  })

  it('asks for the secret too, also of the right part', async () => {
    for (const name of ['traffic', 'exec', 'calls'] as const) {
      const { path, upgrade } = endpoints[name]
      const identity = await part(agentCallers[name][0])
      assert.equal(await ask({ path, upgrade }, identity), 401, name)
      assert.equal(await ask({ path, upgrade, secret: 'another' }, identity), 401, name)
    }
  })

  it('lets no other host call it, not even one with its own name', async () => {
    for (const id of ['h3', 'h2']) {
      const host = await part(PlatformPart.Agent, id)
      for (const { status: _, ...endpoint } of Object.values(endpoints))
        assert.equal(await ask(endpoint, host), 403, `${id} asks for ${endpoint.path}`)
    }
  })

  it('tells anyone whether it is well', async () => {
    for (const path of open) assert.equal(await ask({ path }), 200, path)
  })

  describe('as the API sees it', () => {
    const record = (id: string): NodeRecord => ({
      id,
      agentUrl: url,
      agentSecret,
      accelerator: 'fake',
      memoryMb: 1,
      volumeMb: 1,
      version: '0.1.0',
      subnet: '10.65.0.0/16',
      heartbeatAt: new Date(),
      live: true,
    })
    /** A client that finds all these hosts at the address of the agent. */
    const clientFor = (ids: readonly string[], identity?: PartIdentity) => {
      const client = createNodeClient({
        listNodes: async () => await Promise.resolve(ids.map(record)),
        nowMs: Date.now,
        ...(identity && { identity: () => identity }),
      })
      closers.push(() => void client.close())
      return client
    }

    it('answers under its own name', async () => {
      const client = clientFor(['h2'], await part(PlatformPart.Api))
      assert.equal(await client.readMetrics('h2'), 'a_metric 1\n')
      assert.deepEqual(await client.readAwake('h2', [uuid]), {})
      assert.deepEqual(reached, ['/metrics', '/awake'])
      const exec = await client.openExec({ uuid, nodeId: 'h2' })
      exec.terminate()
    })

    it('is sent nothing if another host should answer', async () => {
      const client = clientFor(['h3'], await part(PlatformPart.Api))
      await assert.rejects(client.readMetrics('h3'), NodeUnavailable)
      await assert.rejects(client.readAwake('h3', [uuid]), NodeUnavailable)
      await assert.rejects(client.beginFirstBoot({ uuid, nodeId: 'h3' }), NodeUnavailable)
      await assert.rejects(client.openExec({ uuid, nodeId: 'h3' }), NodeUnavailable)
      assert.deepEqual(reached, [])
    })

    it('is sent nothing if another authority vouches for it, or if the API knows none', async () => {
      const other = await makePartAuthority(Date.now())
      for (const identity of [await part(PlatformPart.Api, besideId(), other), undefined]) {
        const client = clientFor(['h2'], identity)
        await assert.rejects(client.readMetrics('h2'), NodeUnavailable)
        await assert.rejects(client.openExec({ uuid, nodeId: 'h2' }), NodeUnavailable)
      }
      assert.deepEqual(reached, [])
    })

    it('is told apart from another host at one address', async () => {
      const client = clientFor(['h2', 'h3'], await part(PlatformPart.Api))
      for (let round = 0; round < 3; round++) {
        assert.equal(await client.readMetrics('h2'), 'a_metric 1\n')
        await assert.rejects(client.readMetrics('h3'), NodeUnavailable)
      }
      assert.deepEqual(reached, ['/metrics', '/metrics', '/metrics'])
    })
  })

  describe('as a gateway sees it', () => {
    /** Resolves with `back` once the host has greeted the gateway, or else with why it did not. */
    async function link(id: string, identity: PartIdentity | undefined): Promise<string> {
      const { promise, resolve } = Promise.withResolvers<string>()
      const ignore = (): void => undefined
      const hostLink = new HostLink({
        node: { id, agentUrl: url, trafficSecret: trafficSecretOf(agentSecret) },
        gatewayId: 'gateway',
        events: {
          held: () => [],
          shares: () => [],
          hear: ignore,
          lost: ignore,
          fellSilent: ignore,
          back: () => resolve('back'),
        },
        nowMs: () => performance.now(),
        identity: () => identity,
        onProblem: resolve,
      })
      try {
        return await promise
      } finally {
        hostLink.close()
      }
    }

    it('greets a gateway', async () => {
      assert.equal(await link('h2', await part(PlatformPart.Gateway)), 'back')
    })

    it('greets one that joined only while its host has a gateway, and cuts it off then', async () => {
      const identity = await part(PlatformPart.Gateway, 'h3')
      assert.equal(await link('h2', identity), 'the host answered 403')
      leaseServer.admitElsewhere({ gateways: [], gatewayHosts: ['h3'] })
      assert.equal(await link('h2', identity), 'back')
      assert.equal(await link('h2', await part(PlatformPart.Gateway, 'h4')), 'the host answered 403')
      const { path, upgrade, secret } = endpoints.traffic
      const beside = await openConnection({ path, upgrade, secret }, await part(PlatformPart.Gateway))
      const joined = await openConnection({ path, upgrade, secret }, identity)
      const closed = once(joined, 'close')
      leaseServer.admitElsewhere({ gateways: [] })
      await closed
      assert.equal(beside.destroyed, false)
      beside.destroy()
      assert.equal(await link('h2', identity), 'the host answered 403')
    })

    it('greets no other part', async () => {
      assert.equal(await link('h2', await part(PlatformPart.Agent, 'h3')), 'the host answered 403')
      assert.equal(await link('h2', await part(PlatformPart.Worker)), 'the host answered 403')
    })

    it('gets no secret if it is not the host that the gateway looks for', async () => {
      assert.match(
        await link('h3', await part(PlatformPart.Gateway)),
        /does not match certificate's altnames/,
      )
      const other = await makePartAuthority(Date.now())
      assert.match(await link('h2', await part(PlatformPart.Gateway, besideId(), other)), /certificate/)
      assert.match(await link('h2', undefined), /certificate/)
      assert.deepEqual(reached, [])
    })
  })
})
