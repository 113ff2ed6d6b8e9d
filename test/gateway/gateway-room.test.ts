import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { testHost } from '../support/gateway-http.ts'
import { PublicGateway, closed, tcpPort } from '../support/public-gateway.ts'
import { until } from '../support/until.ts'

const limitMs = 10_000
/** The source that has all connections at first, and the source that comes later. */
const crowd = '127.0.0.2'
const newcomer = '127.0.0.3'
const get = `GET / HTTP/1.1\r\nHost: ${testHost}\r\n\r\n`
const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

describe('a gateway whose connections are all in use', function () {
  this.timeout(limitMs)
  let all: PublicGateway

  afterEach(async () => all.close())

  /** Starts a gateway with room for `connections`. If `silent` is true, the instance answers no request. */
  async function start(connections: number, silent = false): Promise<void> {
    all = await PublicGateway.start({ clientLimits: { connections, activeMs: 0, endMs: 200 } })
    all.respond = (socket: Socket) => {
      socket.on('data', (chunk: Buffer) => {
        if (!chunk.includes('HTTP/1.1')) socket.write(chunk)
        else if (!silent) socket.write(answer)
      })
    }
  }

  const from = (localAddress: string, port = 443, ALPNProtocols = ['http/1.1']): TLSSocket =>
    all.client(port, { localAddress, ALPNProtocols, allowHalfOpen: false })

  async function asked(client: TLSSocket): Promise<TLSSocket> {
    client.write(get)
    assert.match(String((await once(client, 'data'))[0]), /^HTTP\/1\.1 200 /)
    return client
  }

  async function asks(client: TLSSocket, requests: number): Promise<TLSSocket> {
    client.write(get)
    await until('the request is at the instance', () => all.accepted.length >= requests, { limitMs })
    return client
  }

  const isOpen = (client: Socket): boolean => !client.destroyed && !client.readableEnded
  const closedFor = async (was: string) =>
    await all.metric(`roost_gateway_closed_connections_total{was="${was}"}`)
  const refused = async () => await all.metric('roost_gateway_refusals_total{reason="connections"}')

  it('closes the longest idle connection of the source that has most, and serves another source', async () => {
    await start(3)
    const clients: TLSSocket[] = []
    for (let index = 0; index < 3; index++) clients.push(await asked(from(crowd)))
    // So far the first connection has been idle for longest. After this request over it, the second has.
    const [first, second, third] = clients as [TLSSocket, TLSSocket, TLSSocket]
    await asked(first)
    const gone = closed(second)
    await asked(from(newcomer))
    await gone
    assert.deepEqual([isOpen(first), isOpen(third)], [true, true])
    assert.deepEqual([await closedFor('idle'), await refused()], [1, 0])
  })

  it('sends GOAWAY over an idle connection of HTTP/2, and closes it even if its client does not', async () => {
    await start(1)
    const session = connectHttp2(`https://${testHost}`, {
      createConnection: () => from(crowd, 443, ['h2']),
    })
    session.on('error', () => undefined)
    await once(session, 'remoteSettings')
    const goodbye = once(session, 'goaway')
    const gone = once(session, 'close')
    await asked(from(newcomer))
    assert.equal((await goodbye)[0], 0)
    await gone
    assert.equal(await closedFor('idle'), 1)
  })

  it('closes connections that never sent a request only if no other is between two requests, and the oldest first', async () => {
    await start(3)
    const silent: TLSSocket[] = []
    for (let index = 0; index < 2; index++) {
      const client = from(crowd, tcpPort)
      client.write('a')
      await once(client, 'data')
      silent.push(client)
    }
    const [first, second] = silent as [TLSSocket, TLSSocket]
    const idle = await asked(from(crowd))
    first.write('b')
    await once(first, 'data')
    const gone = [closed(idle), closed(second)]
    await asked(from(newcomer))
    await gone[0]
    assert(isOpen(second))
    await asked(from('127.0.0.4'))
    await gone[1]
    assert(isOpen(first))
    assert.deepEqual([await closedFor('idle'), await closedFor('silent')], [1, 1])
  })

  it('tells a WebSocket that it goes away', async () => {
    await start(1)
    all.respond = (socket: Socket) => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
      )
    }
    const client = from(crowd)
    const key = 'dGhlIHNhbXBsZSBub25jZQ=='
    client.write(
      `GET / HTTP/1.1\r\nHost: ${testHost}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    )
    assert.match(String((await once(client, 'data'))[0]), /^HTTP\/1\.1 101 /)
    const goodbye = once(client, 'data')
    from(newcomer)
    // These bytes are a close frame with code 1001.
    assert.deepEqual([...((await goodbye)[0] as Buffer)].slice(0, 4), [0x88, 0x02, 0x03, 0xe9])
    await closed(client)
    assert.equal(await closedFor('silent'), 1)
  })

  it('ends no request for a new connection of the same source, but ends one for a source with fewer connections', async () => {
    await start(2, true)
    const busy = [await asks(from(crowd), 1), await asks(from(crowd), 2)]
    await closed(from(crowd))
    assert.deepEqual([busy.map(isOpen), await refused()], [[true, true], 1])
    const gone = Promise.race(busy.map(closed))
    await asks(from(newcomer), 3)
    await gone
    assert.deepEqual(busy.filter(isOpen).length, 1)
    await closed(from(newcomer))
    assert.deepEqual([await closedFor('busy'), await refused()], [1, 2])
  })

  it('ends the clients with most unread bytes if all clients together have too many, whatever their protocol', async () => {
    all = await PublicGateway.start({ clientLimits: { heldBytes: 10_000 } })
    const much = Buffer.alloc(64 << 20)
    all.respond = (socket: Socket) => {
      socket.on('data', (chunk: Buffer) => {
        if (chunk.includes('/much')) socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${much.length}\r\n\r\n`)
        socket.write(chunk.includes('GET / ') ? answer : much)
      })
    }
    const modest = await asked(from(crowd))
    const over = [from(newcomer), from(newcomer, tcpPort)]
    for (const client of over) {
      client.write(`GET /much HTTP/1.1\r\nHost: ${testHost}\r\n\r\n`)
      await once(client, 'readable')
    }
    await until('both are ended', async () => (await closedFor('memory')) === 2, { limitMs })
    await Promise.all(over.map(closed))
    await asked(modest)
  })

  it('counts a connection without a handshake as idle', async () => {
    await start(2)
    const stuck = [all.plainClient(443), all.plainClient(443)]
    await until(
      'they are there',
      async () => (await all.metric('roost_gateway_connections{protocol="handshake"}')) === 2,
      { limitMs },
    )
    const gone = Promise.race(stuck.map(closed))
    await asked(from(newcomer))
    await gone
    assert.equal(await all.metric('roost_gateway_max_connections'), 2)
  })
})
