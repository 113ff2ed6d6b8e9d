import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { trafficUpgrade } from '../../src/domain/standby/lease-protocol.ts'
import { HostLink } from '../../src/gateway/hosts/host-link.ts'
import { jsonLine } from '../../src/primitives/json-lines.ts'

const instance = '00000000-0000-4000-8000-000000000001'
const held = { instance, boot: 1, epoch: 7 }

describe('the connection of a gateway to a host', () => {
  let host: Server
  let link: HostLink | undefined

  before(async () => {
    host = createServer()
    host.listen(0, '127.0.0.1')
    await once(host, 'listening')
  })
  afterEach(() => link?.close())
  after(() => host.close())

  function connect(back: () => void = () => undefined): HostLink {
    const { port } = host.address() as AddressInfo
    const ignore = (): void => undefined
    return new HostLink({
      node: { id: 'node', agentUrl: `http://127.0.0.1:${port}`, trafficSecret: 'secret' },
      gatewayId: 'gateway',
      events: { held: () => [held], hear: ignore, lost: ignore, fellSilent: ignore, back },
      nowMs: () => performance.now(),
      onProblem: ignore,
    })
  }

  async function accepted(): Promise<Duplex> {
    const [, socket] = (await once(host, 'upgrade')) as [unknown, Duplex]
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${trafficUpgrade}\r\n\r\n`,
    )
    return socket
  }

  it('takes back what it said in its hello even before the hello is answered', async () => {
    const accepting = accepted()
    const { promise: welcomed, resolve: back } = Promise.withResolvers<void>()
    link = connect(back)
    const socket = await accepting
    const lines = createInterface(socket)[Symbol.asyncIterator]()
    assert.deepEqual(JSON.parse((await lines.next()).value ?? ''), {
      kind: 'hello',
      gatewayId: 'gateway',
      held: [held],
    })
    const idle = { kind: 'idle', instance, epoch: 7, quietMs: 0 } as const
    link.send(idle)
    socket.write(jsonLine({ kind: 'welcome', nodeId: 'node' }))
    await welcomed
    link.send({ kind: 'beat' })
    assert.deepEqual(JSON.parse((await lines.next()).value ?? ''), idle)
    socket.destroy()
  })
})
