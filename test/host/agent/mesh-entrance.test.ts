import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { trafficUpgrade } from '../../../src/domain/standby/lease-protocol.ts'
import { LeaseServer, trafficSecretOf } from '../../../src/host/leases/lease-server.ts'
import { MeshEntrance } from '../../../src/host/agent/mesh-entrance.ts'
import { freePort } from '../../../src/primitives/free-ports.ts'
import { StandbyScene } from '../leases/standby-scene.ts'

const agentSecret = 'the-secret'
const address = '127.0.0.1'
/** Two addresses of the loopback stand for two machines of the mesh. */
const [gateway, host] = ['127.0.0.2', '127.0.0.3']

describe('the entrance of an agent in the mesh', () => {
  let scene: StandbyScene
  let leaseServer: LeaseServer
  let entrance: MeshEntrance
  let asked: string[]
  let port: number
  beforeEach(async () => {
    scene = await StandbyScene.make()
    await scene.nextAgent()
    const { leases } = scene.live.agent
    const { log } = scene.live.ports
    leaseServer = new LeaseServer({ agentSecret, nodeId: 'local', leases, log, nowMs: Date.now })
    asked = []
    const calls = createServer((incoming, response) => {
      asked.push(incoming.url ?? '')
      response.end('called')
    })
    entrance = new MeshEntrance({
      calls,
      exec(incoming, socket) {
        if (incoming.url !== '/exec') return false
        socket.end('HTTP/1.1 418 exec\r\nContent-Length: 0\r\n\r\n')
        return true
      },
      leases: (incoming, socket, head, from) => leaseServer.receive(incoming, socket, head, from),
    })
    port = await freePort()
    await entrance.listen(port, address)
  })
  afterEach(async () => {
    leaseServer.close()
    entrance.close()
    await scene.machine.remove()
  })

  /** The connection of a gateway at this address, or the status with which it is refused. */
  async function ask(
    localAddress: string,
    secret = trafficSecretOf(agentSecret),
    path = '/traffic',
  ): Promise<Socket | number> {
    const asked = request({
      host: address,
      port,
      localAddress,
      agent: false,
      path,
      headers: { connection: 'Upgrade', upgrade: trafficUpgrade, authorization: `Bearer ${secret}` },
    })
    asked.end()
    const { promise, resolve, reject } = Promise.withResolvers<Socket | number>()
    asked.once('upgrade', (_answer, socket) => resolve(socket))
    asked.once('response', ({ statusCode = 0 }) => resolve(statusCode))
    asked.once('error', reject)
    return await promise
  }

  async function line(localAddress: string): Promise<Socket> {
    const socket = await ask(localAddress)
    assert.ok(typeof socket !== 'number')
    return socket.resume()
  }

  it('lets in the addresses of gateways, and nobody before it was told any', async () => {
    assert.equal(await ask(gateway), 403)
    leaseServer.admitElsewhere({ gateways: [gateway] })
    const socket = await line(gateway)
    assert.equal(await ask(host), 403)
    assert.equal(await ask(gateway, 'another secret'), 401)
    socket.destroy()
  })

  it('cuts a gateway off when it is not among them any more', async () => {
    leaseServer.admitElsewhere({ gateways: [gateway, host] })
    const [one, other] = [await line(gateway), await line(host)]
    const closed = once(other, 'close')
    leaseServer.admitElsewhere({ gateways: [gateway] })
    await closed
    assert.equal(one.destroyed, false)
    one.destroy()
  })

  it('lets the machines of APIs and workers call the agent, and nobody else', async () => {
    const get = async (localAddress: string): Promise<string> => {
      const socket = connect({ host: address, port, localAddress })
      socket.end('GET /usage HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      const [first] = (await once(socket, 'data')) as [Buffer]
      return first.toString()
    }
    assert.match(await get(gateway), /^HTTP\/1\.1 404 /)
    assert.equal(await ask(gateway, '', '/exec'), 403)
    entrance.admit({ controlMachines: [gateway] })
    assert.match(await get(gateway), /^HTTP\/1\.1 200 /)
    assert.equal(await ask(gateway, '', '/exec'), 418)
    assert.match(await get(host), /^HTTP\/1\.1 404 /)
    entrance.admit({})
    assert.match(await get(gateway), /^HTTP\/1\.1 404 /)
    assert.deepEqual(asked, ['/usage'])
  })

  it('answers nothing else that an agent answers', async () => {
    leaseServer.admitElsewhere({ gateways: [gateway] })
    for (const path of ['/metrics', '/readyz', '/traffic']) {
      const socket = connect({ host: address, port, localAddress: gateway })
      socket.end(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      const [first] = (await once(socket, 'data')) as [Buffer]
      assert.match(first.toString(), /^HTTP\/1\.1 404 /, path)
    }
  })
})
