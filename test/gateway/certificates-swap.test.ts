import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { ConnectionOptions } from 'node:tls'
import { namedCertificate } from '../support/named-certificate.ts'
import { PublicGateway, closed, pendingHost } from '../support/public-gateway.ts'

const limitMs = 60_000
const swaps = 40
/** Handshakes of each client between two swaps, so that every swap meets handshakes under way. */
const handshakesPerSwap = 2
/** One client of each kind: with each version of TLS, which does or does not resume its last session. */
const clients = [
  { version: 'TLSv1.2', keepsSession: false },
  { version: 'TLSv1.2', keepsSession: true },
  { version: 'TLSv1.3', keepsSession: false },
  { version: 'TLSv1.3', keepsSession: true },
] as const

interface Session {
  readonly bytes: Buffer
  readonly serial: string
}

interface Seen {
  readonly serial: string
  readonly resumed: boolean
  readonly session: Session | undefined
}

describe('certificates that are swapped while clients shake hands', function () {
  this.timeout(limitMs)
  let all: PublicGateway
  let served: string[]

  beforeEach(async () => {
    served = []
    all = await PublicGateway.start()
  })
  afterEach(async () => all.close())

  async function swap(): Promise<void> {
    const pem = await namedCertificate({ name: pendingHost })
    served.push(new X509Certificate(pem.chain).serialNumber)
    const certificate = { uuid: 'c', commonName: pendingHost, state: 'valid', ...pem } as const
    all.tell({ kind: 'certificate', certificate })
  }

  /**
   * Makes one handshake, and rejects if it fails. A resumed session shows no certificate. So its serial
   * number is that of the handshake in which the session was made.
   */
  async function shake(over: ConnectionOptions, from?: Session): Promise<Seen> {
    const client = all.client(443, {
      servername: pendingHost,
      ...over,
      ...(from === undefined ? {} : { session: from.bytes }),
    })
    let bytes: Buffer | undefined
    client.on('session', (given: Buffer) => (bytes = given))
    await once(client, 'secureConnect')
    const resumed = client.isSessionReused()
    const serial = (resumed ? from?.serial : client.getPeerX509Certificate()?.serialNumber) ?? ''
    client.end()
    await closed(client)
    return { serial, resumed, session: bytes === undefined ? from : { bytes, serial } }
  }

  it('fail no handshake, and are shown at once', async () => {
    await swap()
    const seen: Seen[] = []
    let wanted = 0
    let over = false
    let more = Promise.withResolvers<void>()
    const load = async ({ version, keepsSession }: (typeof clients)[number]): Promise<void> => {
      let session: Session | undefined
      while (!over) {
        const servedBefore = served.length
        const one = await shake({ minVersion: version, maxVersion: version }, session)
        // The certificate may be newer than the last one before the handshake, but not older.
        assert(served.slice(servedBefore - 1).includes(one.serial), `number ${servedBefore} was swapped`)
        if (keepsSession) session = one.session
        seen.push(one)
        if (seen.length >= wanted) more.resolve()
      }
    }
    const loads = Promise.all(clients.map(load))
    const swapAll = async (): Promise<void> => {
      try {
        for (let number = 0; number < swaps; number++) {
          await swap()
          more = Promise.withResolvers()
          wanted = seen.length + clients.length * handshakesPerSwap
          // If a client fails, `loads` rejects. So the test fails with that error instead of a timeout.
          await Promise.race([more.promise, loads])
        }
      } finally {
        over = true
      }
    }
    await Promise.all([swapAll(), loads])
    assert(seen.length >= swaps * clients.length * handshakesPerSwap)
    assert(seen.some(({ resumed }) => resumed))
    assert.equal(new Set(served).size, swaps + 1)
    assert.equal((await shake({})).serial, served.at(-1))
    const outcome = (name: string) => all.metric(`roost_gateway_handshakes_total{outcome="${name}"}`)
    for (const name of ['failed', 'no-certificate', 'unusable-certificate'])
      assert.equal((await outcome(name)) ?? 0, 0, name)
  })
})
