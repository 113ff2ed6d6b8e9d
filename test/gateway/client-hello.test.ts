import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import fc from 'fast-check'
import { maxHelloBytes, readClientHello } from '../../src/gateway/listeners/client-hello.ts'

/** The first message (ClientHello) of Node's client with these options. */
async function helloOf(over: ConnectionOptions): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', ...over })
  client.on('error', () => undefined)
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [hello] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  server.close()
  return hello
}

/** The same message in records of the given size. */
function inRecords(hello: Buffer, recordBytes: number): Buffer {
  const message = hello.subarray(5)
  const pieces: Buffer[] = []
  for (let at = 0; at < message.length; at += recordBytes) {
    const piece = message.subarray(at, at + recordBytes)
    const head = Buffer.from([0x16, 3, 1, 0, 0])
    head.writeUInt16BE(piece.length, 3)
    pieces.push(head, piece)
  }
  return Buffer.concat(pieces)
}

/** The smallest first message for a name, made by hand: Node's client sends no names as long as these. */
function helloFor(name: string): Buffer {
  const number = (value: number, bytes: number): Buffer => {
    const found = Buffer.alloc(bytes)
    found.writeUIntBE(value, 0, bytes)
    return found
  }
  const counted = (content: Buffer, bytes = 2): Buffer =>
    Buffer.concat([number(content.length, bytes), content])
  const serverName = counted(Buffer.concat([Buffer.from([0]), counted(Buffer.from(name))]))
  const extensions = counted(Buffer.concat([number(0, 2), counted(serverName)]))
  const suites = Buffer.from([0, 2, 0x13, 1, 1, 0])
  const body = Buffer.concat([number(0x0303, 2), Buffer.alloc(33), suites, extensions])
  return Buffer.concat([
    Buffer.from([0x16, 3, 1]),
    counted(Buffer.concat([Buffer.from([1]), counted(body, 3)])),
  ])
}

describe('the first message of a TLS client', () => {
  let hello: Buffer
  const said = { kind: 'hello', hello: { serverName: 'app.test', protocols: ['h2', 'http/1.1'] } } as const

  before(async () => {
    hello = await helloOf({ servername: 'APP.test', ALPNProtocols: ['h2', 'http/1.1'] })
  })

  it('says which name and protocols it is for', async () => {
    assert.deepEqual(readClientHello(hello), said)
    const old = await helloOf({ servername: 'app.test', maxVersion: 'TLSv1.2' })
    assert.deepEqual(readClientHello(old), {
      kind: 'hello',
      hello: { serverName: 'app.test', protocols: [] },
    })
    const nameless = await helloOf({ ALPNProtocols: ['acme-tls/1'] })
    const expected = { kind: 'hello', hello: { serverName: '', protocols: ['acme-tls/1'] } }
    assert.deepEqual(readClientHello(nameless), expected)
  })

  it('is put together from records, and what follows it is left alone', () => {
    assert.deepEqual(readClientHello(inRecords(hello, 700)), said)
    assert.deepEqual(readClientHello(Buffer.concat([hello, Buffer.from([0x14, 3, 3])])), said)
  })

  it('is awaited until it is complete, and not longer', () => {
    for (const whole of [hello, inRecords(hello, 700)]) {
      for (let length = 0; length < whole.length; length++) {
        const reading = readClientHello(whole.subarray(0, length))
        assert.equal(reading.kind, 'incomplete', `${length} of ${whole.length}`)
        assert(reading.kind === 'incomplete' && reading.needsBytes > length)
        assert(reading.needsBytes <= whole.length)
      }
    }
  })

  it('is not read if it is something else, too large, or in too many pieces', () => {
    const large = Buffer.from([0x16, 3, 1, 0, 4, 1, 0, 0, 0])
    large.writeUIntBE(maxHelloBytes, 6, 3)
    for (const bytes of [
      Buffer.from('GET / HTTP/1.1\r\n'),
      Buffer.from([0x16, 2, 0, 0, 1]),
      Buffer.from([0x16, 3, 1, 0, 0]),
      Buffer.from([0x16, 3, 1, 0, 4, 2, 0, 0, 0]),
      Buffer.from([0x16, 3, 1, 0xff, 0xff]),
      large,
      inRecords(hello, 8),
    ])
      assert.deepEqual(readClientHello(bytes), { kind: 'unreadable' })
  })

  it('is not read if its name is longer than any valid one, so that nobody looks it up', () => {
    const longest = `${'a.'.repeat(127)}x`
    const whole = { kind: 'hello', hello: { serverName: longest, protocols: [] } }
    assert.deepEqual(readClientHello(helloFor(longest)), whole)
    assert.deepEqual(readClientHello(helloFor(`a${longest}`)), { kind: 'unreadable' })
    assert.deepEqual(readClientHello(helloFor('a.'.repeat(7_000))), { kind: 'unreadable' })
  })

  it('does no harm, whatever bytes it has', () => {
    const bytes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 })
    fc.assert(
      fc.property(bytes, fc.nat(), (changes, cut) => {
        const damaged = Buffer.from(hello)
        for (const [at, value] of changes) damaged[at % damaged.length] = value
        const reading = readClientHello(damaged.subarray(0, cut % (damaged.length + 1)))
        assert(['hello', 'incomplete', 'unreadable'].includes(reading.kind))
      }),
      { numRuns: 5_000 },
    )
  })
})
