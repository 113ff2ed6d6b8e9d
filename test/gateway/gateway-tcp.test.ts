import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { testHost } from '../support/gateway-http.ts'
import { PublicGateway, everything, tcpPort } from '../support/public-gateway.ts'

const limitMs = 60_000
const longBytes = 48 << 20
/** The length of the pattern is a prime, so that chunks of any size end at a new place of it each time. */
const patternBytes = 65_521

/** Counts and hashes what arrives. It stops reading again and again for a while. */
async function readSlowly(socket: Socket): Promise<{ readonly bytes: number; readonly hash: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  let sincePause = 0
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    sincePause += chunk.length
    hash.update(chunk)
    if (sincePause < 4 << 20) return
    sincePause = 0
    socket.pause()
    setTimeout(() => socket.resume(), 5)
  })
  await once(socket, 'end')
  return { bytes, hash: hash.digest('hex') }
}

/** Writes this many bytes as fast as the socket takes them, and ends. Returns their hash. */
async function writeAll(socket: Socket, bytes: number): Promise<string> {
  const hash = createHash('sha256')
  const pattern = Buffer.from(Array.from({ length: patternBytes }, (_, index) => (index * 31) & 255))
  for (let left = bytes; left > 0; left -= patternBytes) {
    const chunk = pattern.subarray(0, Math.min(left, patternBytes))
    hash.update(chunk)
    if (!socket.write(chunk)) await once(socket, 'drain')
  }
  socket.end()
  return hash.digest('hex')
}

describe('the relay of TCP', function () {
  this.timeout(limitMs)
  let all: PublicGateway

  beforeEach(async () => {
    all = await PublicGateway.start()
  })
  afterEach(async () => all.close())

  it('passes long streams in both directions at once, exactly, to readers that stop again and again', async () => {
    const there = new Promise<object>((resolve, reject) => {
      all.respond = (socket) => {
        Promise.all([readSlowly(socket), writeAll(socket, longBytes)]).then(resolve, reject)
      }
    })
    const client = all.client()
    const here = await Promise.all([readSlowly(client), writeAll(client, longBytes)])
    assert.deepEqual(await there, here)
    assert.equal(here[0].bytes, longBytes)
    assert.equal(here[0].hash, here[1])
  })

  it('lets a client end its side, and the application answer after that', async () => {
    all.respond = (socket) => {
      void everything(socket).then((asked) => socket.end(`${asked.length} bytes`))
    }
    const client = all.client()
    client.end('question')
    assert.equal(String(await everything(client)), '8 bytes')
  })

  it('serves a client that ended its side while it waited for the wake', async () => {
    all.host.answer = () => undefined
    all.respond = (socket) => {
      void everything(socket).then((asked) => socket.end(`${asked.length} bytes`))
    }
    const client = all.client()
    client.end('question')
    const answer = everything(client)
    all.host.open(await all.host.next('open'))
    assert.equal(String(await answer), '8 bytes')
  })

  it('lets the application end its side, and passes on all bytes that the client sends after that', async () => {
    const heard = new Promise<object>((resolve, reject) => {
      all.respond = (socket) => {
        socket.end('go on')
        readSlowly(socket).then(resolve, reject)
      }
    })
    const client = all.client()
    assert.equal(String(await everything(client)), 'go on')
    const hash = await writeAll(client, longBytes / 4)
    assert.deepEqual(await heard, { bytes: longBytes / 4, hash })
  })

  it('gives a client that reads late the last byte of an application that has closed', async () => {
    const sent = Buffer.alloc(128 << 10, 7)
    const closed = new Promise<void>((resolve) => {
      all.respond = (socket) => {
        socket.resume().end(sent)
        socket.once('close', () => resolve())
      }
    })
    const client = all.client()
    await once(client, 'secureConnect')
    client.end()
    await closed
    assert.equal(sent.compare(await everything(client)), 0)
  })

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`agrees to a protocol that a client offers alone, and to none of several, in ${version}`, async () => {
      const agreed = async (...ALPNProtocols: readonly string[]): Promise<string | false | null> => {
        const client = all.client(tcpPort, { ALPNProtocols: [...ALPNProtocols], minVersion: version, maxVersion: version }) // prettier-ignore
        client.end('question')
        assert.equal(String(await everything(client)), 'question')
        return client.alpnProtocol
      }
      assert.equal(await agreed('postgresql'), 'postgresql')
      assert.equal(await agreed('h2'), 'h2')
      assert.equal(await agreed('h2', 'http/1.1'), false)
      assert.equal(await agreed('http/1.1', 'acme-tls/1', 'h2'), false)
    })
  }

  it('lets a client that prefers HTTP/2 speak HTTP/1.1 with an application that knows nothing else', async () => {
    all.respond = (socket) => {
      socket.once('data', (head: Buffer) => {
        const known = head.toString().startsWith('GET / HTTP/1.1\r\n')
        socket.end(`HTTP/1.1 ${known ? 200 : 400} So\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi`)
      })
    }
    const client = all.client(tcpPort, { ALPNProtocols: ['h2', 'http/1.1'] })
    await once(client, 'secureConnect')
    // Like other clients, this one speaks HTTP/2 only if that was agreed on.
    assert.notEqual(client.alpnProtocol, 'h2')
    const asked = get({ createConnection: () => client, host: testHost })
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    assert.equal(response.statusCode, 200)
    assert.equal(String(await response.setEncoding('latin1').toArray()), 'hi')
  })
})
