import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import type { RemoteInfo, Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { decode, encode, streamDecode, streamEncode } from 'dns-packet'
import type { Packet } from 'dns-packet'
import { DnsForwarder } from '../../../src/host/dns/dns-forwarder.ts'
import { DnsServer } from '../../../src/host/dns/dns-server.ts'
import type { DnsServerOptions } from '../../../src/host/dns/dns-server.ts'
import { PrivateNames } from '../../../src/host/dns/private-names.ts'
import { nameOf, user } from './names.ts'

/**
 * The server knows by the address who asks. The loopback interface has enough addresses for several askers.
 */
const asker = '127.0.0.1'
const stranger = '127.0.0.2'

describe('the nameserver of a host', () => {
  const names = new PrivateNames()
  names.remember([nameOf('web', '10.64.0.2')])
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  async function open(options: Partial<DnsServerOptions> = {}): Promise<number> {
    const ownerOf = (ip: string): string | undefined => (ip === asker ? user : undefined)
    const server = new DnsServer({ address: '127.0.0.1', port: 0, names, ownerOf, ...options })
    closing.push(async () => await server.close())
    return await server.open()
  }

  const question = (name: string, id = 5): Packet => ({
    type: 'query',
    id,
    flags: 0x0100,
    questions: [{ type: 'A', name }],
  })

  async function client(from = asker): Promise<UdpSocket> {
    const socket = createSocket('udp4')
    closing.push(() => socket.close())
    socket.bind(0, from)
    await once(socket, 'listening')
    return socket
  }

  async function askByUdp(port: number, name: string): Promise<Packet & { rcode: string }> {
    const socket = await client()
    socket.send(encode(question(name)), port, '127.0.0.1')
    const [message] = (await once(socket, 'message')) as [Buffer]
    return decode(message) as unknown as Packet & { rcode: string }
  }

  async function connection(port: number, from = asker): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port, localAddress: from })
    closing.push(() => socket.destroy())
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }

  /**
   * Starts a server in place of the nameserver to which the host forwards questions. The test says how it
   * behaves.
   */
  async function elsewhere(
    answer: (message: Buffer, from: RemoteInfo, socket: UdpSocket) => void,
  ): Promise<number> {
    const socket = createSocket('udp4')
    closing.push(() => socket.close())
    socket.on('message', (message, from) => answer(message, from, socket))
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return socket.address().port
  }
  const address = (message: Buffer, data: string): Buffer => {
    const { id, questions } = decode(message)
    const answers = [{ type: 'A' as const, name: questions?.[0]?.name ?? '', data }]
    return encode({ type: 'response', id: id ?? 0, questions: questions ?? [], answers })
  }
  const dataOf = (packet: Packet): unknown => packet.answers?.map((record) => 'data' in record && record.data)

  it('answers by UDP and by TCP', async () => {
    const port = await open()
    assert.deepEqual(dataOf(await askByUdp(port, 'web.internal')), ['10.64.0.2'])
    const socket = await connection(port)
    // The bytes are cut in the middle of a message, as networks do it.
    const bytes = Buffer.concat([
      streamEncode(question('web.internal')),
      streamEncode(question('no.internal')),
    ])
    socket.write(bytes.subarray(0, 9))
    await new Promise((resolve) => setImmediate(resolve))
    socket.write(bytes.subarray(9))
    let heard: Buffer = Buffer.alloc(0)
    while (heard.length < 2 || heard.length < heard.readUInt16BE(0) + 40) {
      heard = Buffer.concat([heard, ((await once(socket, 'data')) as [Buffer])[0]])
    }
    assert.deepEqual(dataOf(streamDecode(heard)), ['10.64.0.2'])
  })

  it('refuses other names if instances do not reach the outside', async () => {
    assert.equal((await askByUdp(await open(), 'example.com')).rcode, 'REFUSED')
  })

  it('an address without an owner gets no answer and no connection', async () => {
    const port = await open({ ownerOf: () => undefined })
    const socket = await connection(port)
    await once(socket, 'close')
    const known = await open()
    const unknown = await client(stranger)
    unknown.on('message', () => assert.fail('a stranger was answered'))
    unknown.send(encode(question('web.internal')), known, '127.0.0.1')
    await askByUdp(known, 'web.internal')
    await once(await connection(known, stranger), 'close')
  })

  it('asks the nameserver of the host for other names, and gives its answer under the id of the question', async () => {
    const ids: number[] = []
    const host = await elsewhere((message, from, socket) => {
      ids.push(message.readUInt16BE(0))
      socket.send(address(message, '192.0.2.1'), from.port, from.address)
    })
    const port = await open({ forwarder: new DnsForwarder({ host: '127.0.0.1', port: host }) })
    for (let i = 0; i < 4; i++) {
      const packet = await askByUdp(port, 'example.com')
      assert.deepEqual(dataOf(packet), ['192.0.2.1'])
      assert.equal(packet.id, 5)
    }
    assert.ok(new Set(ids).size > 1, 'ids are not to be guessed')
    assert.deepEqual(dataOf(await askByUdp(port, 'web.internal')), ['10.64.0.2'])
    assert.equal(ids.length, 4)
  })

  it('accepts no answer with another id or question, or from another server', async () => {
    const forger = await client()
    const host = await elsewhere((message, from, socket) => {
      forger.send(address(message, '192.0.2.66'), from.port, from.address)
      const wrongId = address(message, '192.0.2.67')
      wrongId.writeUInt16BE(message.readUInt16BE(0) ^ 1, 0)
      socket.send(wrongId, from.port, from.address)
      const wrongName = encode({ ...question('other.com', message.readUInt16BE(0)), type: 'response' })
      socket.send(wrongName, from.port, from.address)
      socket.send(message, from.port, from.address)
      socket.send(address(message, '192.0.2.1'), from.port, from.address)
    })
    const port = await open({ forwarder: new DnsForwarder({ host: '127.0.0.1', port: host }) })
    assert.deepEqual(dataOf(await askByUdp(port, 'example.com')), ['192.0.2.1'])
  })

  it('if the host’s nameserver is silent or gone, the asker gets a failure in time', async () => {
    const host = await elsewhere(() => undefined)
    const silent = new DnsForwarder({ host: '127.0.0.1', port: host, timeoutMs: 50 })
    assert.equal((await askByUdp(await open({ forwarder: silent }), 'example.com')).rcode, 'SERVFAIL')
    const gone = new DnsForwarder({ host: '127.0.0.1', port: 1 })
    assert.equal((await askByUdp(await open({ forwarder: gone }), 'example.com')).rcode, 'SERVFAIL')
    // A socket can not be connected to this address. It stands for a host that has lost its network.
    const wayless = new DnsForwarder({ host: '255.255.255.255' })
    assert.equal((await askByUdp(await open({ forwarder: wayless }), 'example.com')).rcode, 'SERVFAIL')
  })

  it('one asker may have only a bounded number of questions waiting at the host’s nameserver', async () => {
    let asked = 0
    const host = await elsewhere(() => (asked += 1))
    const forwarder = new DnsForwarder({ host: '127.0.0.1', port: host, timeoutMs: 500 })
    const many = Array.from({ length: 100 }, async () => {
      return await forwarder.ask(encode(question('example.com')), { user, ip: asker, over: 'udp' })
    })
    await Promise.all(many)
    assert.equal(asked, 64)
  })

  it('forwards a question over TCP if it came over TCP', async () => {
    const host: Server = createServer((socket) => {
      socket.once('data', (chunk) => {
        const answer = address(chunk.subarray(2), '192.0.2.1')
        const length = Buffer.alloc(2)
        length.writeUInt16BE(answer.length)
        socket.write(Buffer.concat([length, answer]))
      })
    })
    closing.push(() => host.close())
    host.listen(0, '127.0.0.1')
    await once(host, 'listening')
    const forwarder = new DnsForwarder({ host: '127.0.0.1', port: (host.address() as AddressInfo).port })
    const socket = await connection(await open({ forwarder }))
    socket.write(streamEncode(question('example.com')))
    const [heard] = (await once(socket, 'data')) as [Buffer]
    assert.deepEqual(dataOf(streamDecode(heard)), ['192.0.2.1'])
  })

  it('one asker may have only a bounded number of connections, and one that sends no DNS loses its connection', async () => {
    const port = await open()
    const held = await Promise.all(Array.from({ length: 8 }, async () => await connection(port)))
    await once(await connection(port), 'close')
    held[0]?.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
    await once(held[0] as Socket, 'close')
    held[1]?.write(streamEncode(question('web.internal')))
    await once(held[1] as Socket, 'data')
  })

  it('an asker that asks too fast is not answered until it has waited', async () => {
    let now = 0
    const port = await open({ nowMs: () => now })
    const socket = await connection(port)
    const asked = streamEncode(question('web.internal'))
    for (let i = 0; i < 4_000; i++) socket.write(asked)
    let heard = 0
    socket.on('data', (chunk: Buffer) => (heard += chunk.length))
    const answerBytes = asked.length + 28
    while (heard < 4_000 * answerBytes) await once(socket, 'data')
    assert.equal(heard, 4_000 * answerBytes)
    socket.write(asked)
    await once(socket, 'close')
    now = 1_000
    assert.deepEqual(dataOf(await askByUdp(port, 'web.internal')), ['10.64.0.2'])
  })

  it('fails to open if the port is taken', async () => {
    const port = await open()
    await assert.rejects(open({ port }), /EADDRINUSE/)
  })
})
