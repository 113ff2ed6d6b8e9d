import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { mock } from 'node:test'
import { leaseKeptMs, maxTrafficLineBytes } from '../../../src/domain/standby/lease-protocol.ts'
import type { GatewayMessage, HostMessage } from '../../../src/domain/standby/lease-protocol.ts'
import { trafficSecretOf } from '../../../src/host/leases/lease-server.ts'
import type { LeaseServer } from '../../../src/host/leases/lease-server.ts'
import { JsonLineReader, jsonLine } from '../../../src/primitives/json-lines.ts'
import { agentSecret, serveLeases } from './agent-server.ts'
import { seen } from './gateway.ts'
import { otherUuid, uuid } from '../agent/machine.ts'
import { boot, cold, forced, StandbyScene } from './standby-scene.ts'

/** A gateway for tests, over a real connection. */
class SocketGateway {
  readonly heard: HostMessage[] = []
  closed = false
  readonly #socket: Duplex

  constructor(socket: Duplex) {
    this.#socket = socket
    const reader = new JsonLineReader({ maxBytes: maxTrafficLineBytes })
    socket.on('data', (chunk: Buffer) => {
      this.heard.push(...(reader.push(chunk) as HostMessage[]))
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.closed = true
    })
  }

  say(...messages: GatewayMessage[]): void {
    this.write(messages.map((message) => jsonLine(message)).join(''))
  }

  write(text: string): void {
    this.#socket.write(text)
  }

  async next<K extends HostMessage['kind']>(kind: K): Promise<Extract<HostMessage, { kind: K }>> {
    const found = await seen(`it hears ${kind}`, () => this.heard.find((each) => each.kind === kind))
    return found as Extract<HostMessage, { kind: K }>
  }

  async end(): Promise<void> {
    await seen('the connection ends', () => this.closed)
  }

  leave(): void {
    this.#socket.destroy()
  }
}

describe('the lease server of an agent', () => {
  let scene: StandbyScene
  let server: Server
  let leaseServer: LeaseServer
  const gateways: SocketGateway[] = []
  beforeEach(async () => {
    scene = await StandbyScene.make()
    await scene.running(cold)
    ;({ server, leaseServer } = await serveLeases(scene))
  })
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) gateway.leave()
    leaseServer.close()
    server.close()
    await scene.remove()
  })

  /** Connects. Returns the connection, or the status with which it was refused. */
  async function knock(
    changes: { secret?: string; path?: string; upgrade?: string } = {},
  ): Promise<Duplex | number> {
    const { port } = server.address() as AddressInfo
    const asked = request({
      port,
      path: changes.path ?? '/traffic',
      headers: {
        connection: 'Upgrade',
        upgrade: changes.upgrade ?? 'roost-traffic/1',
        authorization: `Bearer ${changes.secret ?? trafficSecretOf(agentSecret)}`,
      },
    })
    asked.end()
    return await new Promise((resolve, reject) => {
      asked.on('upgrade', (_, socket) => {
        resolve(socket)
      })
      asked.on('response', (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      asked.on('error', reject)
    })
  }

  async function connect(gatewayId?: string): Promise<SocketGateway> {
    const socket = await knock()
    assert.ok(typeof socket !== 'number')
    const gateway = new SocketGateway(socket)
    gateways.push(gateway)
    if (gatewayId !== undefined) gateway.say({ kind: 'hello', gatewayId, held: [] })
    return gateway
  }

  const held = (): number | undefined => scene.live.agent.leases.hostLease(uuid)?.leases

  it('lets in only the traffic secret, and not the agent’s own', async () => {
    for (const secret of [agentSecret, '', 'x', `${trafficSecretOf(agentSecret)}x`]) {
      assert.equal(await knock({ secret }), 401)
    }
    assert.equal(await knock({ path: '/usage' }), 404)
    assert.equal(await knock({ upgrade: 'websocket' }), 426)
    assert.ok(typeof (await knock()) !== 'number')
  })

  it('welcomes a gateway, grants and takes back leases, and refuses instances that it does not know', async () => {
    const gateway = await connect('g')
    gateway.say(
      { kind: 'open', instance: uuid, epoch: 1, ports: [80, 443] },
      { kind: 'open', instance: otherUuid, epoch: 1, ports: [] },
    )
    assert.deepEqual(await gateway.next('welcome'), { kind: 'welcome', nodeId: 'node-1' })
    const { reach, ...opened } = await gateway.next('opened')
    assert.deepEqual(reach, { 80: { host: '10.64.0.2', port: 80 }, 443: { host: '10.64.0.2', port: 443 } })
    assert.deepEqual(opened, {
      kind: 'opened',
      instance: uuid,
      epoch: 1,
      boot: 1,
      memoryBoot: 1,
      returnAfterMs: 500,
      quietConnectionsSleep: false,
    })
    assert.equal((await gateway.next('refused')).reason, 'unknown')
    assert.equal(held(), 1)
    gateway.say({ kind: 'idle', instance: uuid, epoch: 1, quietMs: 0 })
    await seen('the lease is back', () => held() === 0)
  })

  it('answers in the order in which things happened', async () => {
    const gateway = await connect('g')
    gateway.say({ kind: 'open', instance: uuid, epoch: 1, ports: [80] })
    await gateway.next('opened')
    await scene.live.agent.stop({ ...boot, ...forced })
    await gateway.next('gone')
    const words = gateway.heard.map(({ kind }) => kind).filter((kind) => kind !== 'beat')
    assert.deepEqual(words, ['welcome', 'opened', 'close', 'gone'])
  })

  it('keeps the lease of a lost gateway for a while, and drops it if the gateway does not come back', async () => {
    const gateway = await connect('g')
    gateway.say({ kind: 'open', instance: uuid, epoch: 1, ports: [] })
    await gateway.next('opened')
    gateway.leave()
    await seen('it is gone', () => scene.live.agent.leases.gateways === 0)
    assert.equal(held(), 1)
    scene.machine.nowMs += leaseKeptMs
    scene.live.agent.leases.tick()
    assert.equal(held(), 0)
  })

  it('a gateway that comes back says what it holds, and takes the place of its old connection', async () => {
    const first = await connect('g')
    first.say({ kind: 'open', instance: uuid, epoch: 3, ports: [] })
    await first.next('opened')
    const second = await connect()
    second.say({
      kind: 'hello',
      gatewayId: 'g',
      held: [
        { instance: uuid, boot: 1, epoch: 3 },
        { instance: otherUuid, boot: 4, epoch: 1 },
      ],
    })
    assert.deepEqual(await second.next('gone'), { kind: 'gone', instance: otherUuid, boot: 4 })
    await first.end()
    assert.deepEqual([held(), scene.live.agent.leases.gateways], [1, 1])
  })

  it('ends a connection that is silent for as long as leases are kept', async () => {
    const gateway = await connect('g')
    await gateway.next('beat')
    scene.machine.nowMs += leaseKeptMs
    await gateway.end()
  }).timeout(20_000)

  it('notes what gateways count', async () => {
    const gateway = await connect('g')
    const load = { instance: uuid, connections: 1, requests: 2, queued: 0, inFlight: 2.5, handledMore: 9 }
    gateway.say({ kind: 'load', loads: [load] })
    await seen('the load is noted', () => scene.live.agent.leases.hostLease(uuid)?.requests === 2)
    assert.equal(scene.live.agent.entries.get(uuid)?.loads.handledMore, 9)
  })

  describe('asked for what gateways count', () => {
    /** Asks with a time limit that never comes, so that only the gateways' answers end the wait. */
    function countsTold(): Promise<void> {
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        return scene.live.agent.leases.countsTold()
      } finally {
        mock.timers.reset()
      }
    }

    it('waits for their answers', async () => {
      const gateway = await connect('g')
      await gateway.next('welcome')
      const told = countsTold()
      const { number } = await gateway.next('report')
      const counts = { instance: uuid, connections: 0, requests: 0, queued: 0, handledMore: 2 }
      gateway.say({ kind: 'counts', counts: [counts] }, { kind: 'reported', number })
      await told
      assert.equal(scene.live.agent.entries.get(uuid)?.loads.handledMore, 2)
    })

    it('does not wait for a lost gateway', async () => {
      const gateway = await connect('g')
      await gateway.next('welcome')
      const told = countsTold()
      await gateway.next('report')
      gateway.leave()
      await told
    })
  })

  it('cuts off a gateway that does not keep to the protocol, and no other', async () => {
    const good = await connect('good')
    await good.next('welcome')
    const hello = jsonLine({ kind: 'hello', gatewayId: 'bad', held: [] })
    for (const text of [
      'no json\n',
      '[]\n',
      jsonLine({ kind: 'beat' }),
      jsonLine({ kind: 'hello', gatewayId: '', held: [] }),
      jsonLine({ kind: 'hello', gatewayId: 'bad' }),
      hello + hello,
      hello + jsonLine({ kind: 7 }),
      hello + jsonLine({ kind: 'open', instance: uuid, epoch: 1, ports: [0] }),
      hello + jsonLine({ kind: 'open', instance: uuid, epoch: -1, ports: [] }),
      hello + jsonLine({ kind: 'open', instance: uuid, epoch: 1, ports: Array(65).fill(1) }),
      hello + jsonLine({ kind: 'load', loads: [{ instance: uuid, connections: 'x' }] }),
      hello + jsonLine({ kind: 'load', loads: [null] }),
      'x'.repeat(maxTrafficLineBytes + 2),
    ]) {
      const bad = await connect()
      bad.write(text)
      await bad.end()
    }
    good.say({ kind: 'open', instance: uuid, epoch: 1, ports: [] })
    await good.next('opened')
  })
})
