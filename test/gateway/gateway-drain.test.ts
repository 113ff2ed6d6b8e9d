import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { testHost } from '../support/gateway-http.ts'
import { PublicGateway, closed, tcpPort } from '../support/public-gateway.ts'

const get = `GET / HTTP/1.1\r\nHost: ${testHost}\r\n`
const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
const never = new AbortController().signal

describe('a gateway that drains', function () {
  this.timeout(30_000)
  let all: PublicGateway

  beforeEach(async () => {
    all = await PublicGateway.start()
    all.respond = (socket: Socket) => {
      socket.on('data', (chunk: Buffer) => {
        if (chunk.includes('websocket'))
          socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
          )
        else if (chunk.includes('HTTP/1.1')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        else socket.write(chunk)
      })
    }
  })
  afterEach(async () => all.close())

  async function said(client: TLSSocket, text: string): Promise<Buffer> {
    client.write(text)
    return ((await once(client, 'data')) as [Buffer])[0]
  }
  const webClient = (): TLSSocket => all.client(443, { ALPNProtocols: ['http/1.1'], allowHalfOpen: false })

  it('listens no more, and is done as soon as its last client has gone', async () => {
    const idle = webClient()
    assert.match(String(await said(idle, `${get}\r\n`)), /\r\nConnection: keep-alive\r\n/i)
    const drained = all.gateway.drain({ limitMs: 60_000, signal: never })
    const refused = all.plainClient(443)
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException]
    assert.equal(error.code, 'ECONNREFUSED')
    assert.match(String(await said(idle, `${get}\r\n`)), /\r\nConnection: close\r\n/i)
    await drained
  })

  it('lets WebSockets and TCP go on until its time is over, and tells WebSockets then that it goes away', async () => {
    const socket = webClient()
    assert.match(String(await said(socket, `${get}${upgrade}\r\n`)), /^HTTP\/1\.1 101 /)
    const relayed = all.client(tcpPort, { allowHalfOpen: false })
    await said(relayed, 'a')
    const over = new AbortController()
    const drained = all.gateway.drain({ limitMs: 60_000, signal: over.signal })
    assert.equal(String(await said(relayed, 'b')), 'b')
    const goodbye = once(socket, 'data')
    const ends = closed(relayed)
    over.abort()
    await drained
    // These bytes are a close frame with code 1001.
    assert.deepEqual([...((await goodbye)[0] as Buffer)].slice(0, 4), [0x88, 0x02, 0x03, 0xe9])
    await ends
  })

  it('leaves a request that is under way at the end of its time to the grace of its close', async () => {
    let answer: (() => void) | undefined
    all.respond = (socket: Socket) => {
      socket.once('data', () => {
        answer = () => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate')
      })
    }
    const busy = webClient()
    busy.write(`${get}\r\n`)
    while (answer === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    await all.gateway.drain({ limitMs: 1, signal: never })
    const closing = all.gateway.close({ graceMs: 20_000 })
    const answered = once(busy, 'data')
    answer()
    assert.match(String((await answered)[0]), /^HTTP\/1\.1 200 [^]*late$/)
    await closing
  })
})
