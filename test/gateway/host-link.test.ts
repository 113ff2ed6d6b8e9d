import assert from 'node:assert/strict'
import { HostLink } from '../../src/gateway/hosts/host-link.ts'
import { FakeLeaseServer } from '../support/fake-lease-server.ts'

const instance = '00000000-0000-4000-8000-000000000001'
const held = { instance, boot: 1, epoch: 7 }

describe('the connection of a gateway to a host', () => {
  let host: FakeLeaseServer
  let link: HostLink | undefined

  beforeEach(async () => {
    host = await FakeLeaseServer.start()
    host.reserved = true
  })
  afterEach(() => {
    link?.close()
    host.close()
  })

  function connect(back: () => void = () => undefined): HostLink {
    const ignore = (): void => undefined
    return new HostLink({
      node: host.node,
      gatewayId: 'gateway',
      events: { held: () => [held], shares: () => [], hear: ignore, lost: ignore, fellSilent: ignore, back },
      nowMs: () => performance.now(),
      onProblem: ignore,
    })
  }

  it('may give a lease back that its hello named before the host has answered the hello', async () => {
    const { promise: welcomed, resolve: back } = Promise.withResolvers<void>()
    link = connect(back)
    const hello = await host.next('hello')
    assert.deepEqual(hello, { kind: 'hello', gatewayId: 'gateway', held: [held], shares: [] })
    const idle = { kind: 'idle', instance, epoch: 7, quietMs: 0 } as const
    link.send(idle)
    host.say({ kind: 'welcome', nodeId: host.node.id })
    await welcomed
    link.send({ kind: 'beat' })
    await host.next('beat')
    const told = host.heard.filter(({ kind }) => kind !== 'beat')
    assert.deepEqual(told, [hello, idle])
  })
})
