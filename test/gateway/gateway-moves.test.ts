import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { DeafPort } from '../support/deaf-port.ts'
import { FakeLeaseServer } from '../support/fake-lease-server.ts'
import { testHost } from '../support/gateway-http.ts'
import { PublicGateway, tcpPort } from '../support/public-gateway.ts'
import { until } from '../support/until.ts'

const httpsPort = 443
const limitMs = 30_000

describe('a connection that is being made to an instance as it begins to move', function () {
  this.timeout(2 * limitMs)
  let all: PublicGateway
  let other: FakeLeaseServer
  let oldPlace: DeafPort

  beforeEach(async () => {
    all = await PublicGateway.start({ httpLimits: { connectMs: 200 }, balanceLimits: { freshMs: 0 } })
    other = await FakeLeaseServer.start()
    oldPlace = await DeafPort.open()
    other.reach = all.host.reach
    other.answer = () => ({ boot: 2, memoryBoot: 1 })
    all.host.reach = { host: '127.0.0.1', port: oldPlace.port }
    await oldPlace.turnDeaf()
  })
  afterEach(async () => {
    await all.close()
    other.close()
    oldPlace.close()
  })

  /** The old host has the lease back while the connection is being made, and then the instance moves. */
  async function move(): Promise<void> {
    await until('a connection is being made', () => oldPlace.asking > 0, { limitMs })
    all.host.answer = () => undefined
    all.host.say({ kind: 'rest', instance: 'a', boot: 1, withinMs: 0 })
    await all.host.next('idle')
    all.tell(
      { kind: 'node', node: { ...other.node, id: 'node-2' } },
      { kind: 'instance', instance: { ...all.instance, nodeId: 'node-2' } },
    )
  }

  const ask = (method: string): Socket => {
    const client = all.client(httpsPort)
    client.write(
      `${method} / HTTP/1.1\r\nHost: ${testHost}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi`,
    )
    return client
  }

  const serve = (): void => {
    all.respond = (socket) => {
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nmoved'),
      )
    }
  }

  const said = async (client: Socket): Promise<string> =>
    await Promise.race([
      once(client, 'data').then(([bytes]) => String(bytes)),
      once(client, 'close').then(() => 'nothing'),
    ])

  for (const method of ['GET', 'POST']) {
    it(`is made at its new host, and the request is answered (${method})`, async () => {
      serve()
      const client = ask(method)
      await move()
      assert.match(await said(client), /^HTTP\/1\.1 200 /)
    })
  }

  it('is made at its new host (TCP)', async () => {
    const client = all.client(tcpPort)
    client.write('hello')
    await move()
    assert.equal(await said(client), 'hello')
  })
})
