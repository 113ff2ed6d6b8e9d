import assert from 'node:assert/strict'
import { Socket, createSocket } from 'node:dgram'
import { once } from 'node:events'
import { DnsServer } from '../../../src/host/dns/dns-server.ts'
import { PrivateNames } from '../../../src/host/dns/private-names.ts'

const address = '127.0.0.1'

describe('the port of the nameserver', () => {
  const taken: Socket[] = []
  let server: DnsServer
  afterEach(async () => {
    await server.close()
    for (const socket of taken.splice(0)) socket.close()
  })

  async function take(port: number): Promise<number> {
    const socket = createSocket('udp4')
    taken.push(socket)
    socket.bind({ address, port, exclusive: true })
    await once(socket, 'listening')
    return socket.address().port
  }

  function open(port: number): DnsServer {
    return (server = new DnsServer({ address, port, names: new PrivateNames(), ownerOf: () => undefined }))
  }

  it('is the one that was named; if that is taken, it says so and leaves nothing open', async () => {
    const port = await take(0)
    await assert.rejects(open(port).open(), { code: 'EADDRINUSE' })
    for (const socket of taken.splice(0)) socket.close()
    assert.equal(await open(port).open(), port)
  })

  it('is another one as long as the one that the system chose is taken for UDP', async () => {
    // The system gives numbers for TCP in its own order, so that no test can take just the right one.
    const own = Socket.prototype
    const { bind } = own
    let failures = 0
    own.bind = function (this: Socket, ...args: Parameters<Socket['bind']>) {
      if (failures++ < 2)
        queueMicrotask(() => this.emit('error', Object.assign(new Error(), { code: 'EADDRINUSE' })))
      else Reflect.apply(bind, this, args)
      return this
    } as Socket['bind']
    try {
      assert.ok((await open(0).open()) > 0)
      assert.equal(failures, 3)
    } finally {
      own.bind = bind
    }
  })
})
