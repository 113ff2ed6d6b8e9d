import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import type { RouteLine, RouteService } from '../../src/domain/service/route-feed.ts'
import type { CertificatePem } from '../../src/gateway/listeners/context-cache.ts'
import { namedCertificate } from '../support/named-certificate.ts'
import { PublicGateway, closed, pendingHost } from '../support/public-gateway.ts'
import { routeService, testHost } from '../support/gateway-http.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000
const dayMs = 86_400_000
const versions = ['TLSv1.2', 'TLSv1.3'] as const

describe('the certificates of the gateway', function () {
  this.timeout(limitMs)
  let all: PublicGateway
  let told: { fields: object; message: string }[]
  let first: CertificatePem
  let second: CertificatePem

  before(async () => {
    first = await namedCertificate({ name: pendingHost })
    second = await namedCertificate({ name: pendingHost })
  })
  beforeEach(async () => {
    told = []
    const log = {
      info: () => undefined,
      warn: (fields: object, message: string) => void told.push({ fields, message }),
      error: () => undefined,
    }
    all = await PublicGateway.start({ log, httpLimits: { headerMs: limitMs * 2 } })
  })
  afterEach(async () => all.close())

  const certificate = (uuid: string, pem: CertificatePem): RouteLine => ({
    kind: 'certificate',
    certificate: { uuid, commonName: pendingHost, state: 'valid', ...pem },
  })
  const fingerprintOf = ({ chain }: CertificatePem): string => new X509Certificate(chain).fingerprint256

  /** A second service, with the given changes. */
  function other(over: Partial<RouteService>): RouteLine {
    return { kind: 'service', service: routeService({ uuid: 'other', name: 'other', ...over }) }
  }

  async function shake(servername: string, over: ConnectionOptions = {}) {
    const client = all.client(443, { servername, ...over })
    const outcome = await once(client, 'secureConnect').then(() => 'secure', String)
    const fingerprint = client.getPeerX509Certificate()?.fingerprint256
    const seen = { outcome, fingerprint, resumed: client.isSessionReused(), version: client.getProtocol() }
    client.destroy()
    return seen
  }

  async function sessionOf(servername: string, over: ConnectionOptions = {}): Promise<Buffer> {
    const client = all.client(443, { servername, ...over })
    const [session] = (await once(client, 'session')) as [Buffer]
    client.destroy()
    return session
  }

  for (const key of ['ec', 'rsa'] as const) {
    it(`may have keys of kind ${key}, in both versions of TLS`, async () => {
      const pem = await namedCertificate({ name: pendingHost, key })
      all.tell(certificate('c', pem))
      for (const version of versions) {
        const seen = await shake(pendingHost, { minVersion: version, maxVersion: version })
        assert.deepEqual(seen, {
          outcome: 'secure',
          fingerprint: fingerprintOf(pem),
          resumed: false,
          version,
        })
      }
    })
  }

  it('are shown with TLS 1.2 or newer, and in TLS 1.2 only with authenticated ciphers of forward secrecy', async () => {
    all.tell(certificate('c', await namedCertificate({ name: pendingHost, key: 'rsa' })))
    const old: ConnectionOptions[] = [
      { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
      { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' },
      { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-SHA256' },
      { maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256' },
    ]
    for (const over of old)
      assert.match((await shake(pendingHost, over)).outcome, /alert|unsupported|handshake/)
    const chosen = await shake(pendingHost, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-CHACHA20-POLY1305' })
    assert.equal(chosen.outcome, 'secure')
    assert.equal(await all.metric('roost_gateway_handshakes_total{outcome="failed"}'), old.length)
  })

  it('never renegotiate', async () => {
    const client = all.client(443, { maxVersion: 'TLSv1.2' })
    await once(client, 'secureConnect')
    const answer = await new Promise<Error | null>((resolve) => {
      client.on('error', resolve)
      client.renegotiate({}, resolve)
    })
    assert.match(String(answer), /renegotiation/)
  })

  it('are swapped for the next handshake, and what is connected goes on', async () => {
    all.tell(certificate('c', first))
    const client = all.client(443, { servername: pendingHost, ALPNProtocols: ['http/1.1'] })
    all.respond = (socket) =>
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'))
    const ask = async (): Promise<string> => {
      client.write(`GET / HTTP/1.1\r\nHost: ${pendingHost}\r\n\r\n`)
      return String((await once(client, 'data'))[0])
    }
    assert.match(await ask(), /hi$/)
    all.tell(certificate('c', second))
    assert.equal((await shake(pendingHost)).fingerprint, fingerprintOf(second))
    assert.match(await ask(), /hi$/)
    all.tell({ kind: 'gone', what: 'certificate', id: 'c' })
    assert.match((await shake(pendingHost)).outcome, /unrecognized name/)
    assert.match(await ask(), /hi$/)
    client.destroy()
  })

  it('may be swapped in the middle of a handshake', async () => {
    all.tell(certificate('c', first))
    const relay = connect(443 + all.portOffset, '127.0.0.1')
    const hello = await helloOf(pendingHost)
    // The client sends its first message without the last byte. Then the certificate is swapped, and then the
    // last byte follows.
    relay.write(hello.subarray(0, -1))
    const early = all.client(443, { servername: pendingHost })
    await once(early, 'secureConnect')
    all.tell(certificate('c', second))
    relay.write(hello.subarray(-1))
    const [answer] = (await once(relay, 'data')) as [Buffer]
    assert.equal(answer[0], 0x16)
    relay.destroy()
    early.destroy()
  })

  for (const version of versions) {
    const of: ConnectionOptions = { minVersion: version, maxVersion: version }

    it(`have their sessions resumed as long as they are the same, in ${version}`, async () => {
      all.tell(certificate('c', first))
      const session = await sessionOf(pendingHost, of)
      const again = all.client(443, { servername: pendingHost, ...of, session })
      await once(again, 'secureConnect')
      assert.equal(again.isSessionReused(), true)
      const counted = async () =>
        (await all.metric('roost_gateway_handshakes_total{outcome="resumed"}')) === 1
      await until('it is counted as resumed', counted, { limitMs })
      all.tell(certificate('c', second))
      const swapped = await shake(pendingHost, { ...of, session })
      assert.equal(swapped.resumed, false)
      assert.equal(swapped.fingerprint, fingerprintOf(second))
      all.tell({ kind: 'gone', what: 'certificate', id: 'c' })
      assert.match((await shake(pendingHost, { ...of, session })).outcome, /unrecognized name/)
    })

    it(`have no session of one name resumed for another, even with the same certificate, in ${version}`, async () => {
      all.tell(other({ domains: [{ fqdn: 'b.test' }, { fqdn: 'c.test', certificateUuid: 'c' }] }))
      all.tell(certificate('c', first))
      const metro = await sessionOf(testHost, of)
      assert.equal((await shake(testHost, { ...of, session: metro })).resumed, true)
      assert.equal((await shake('b.test', { ...of, session: metro })).resumed, false)
      assert.equal((await shake('nobody.test', { ...of, session: metro })).resumed, false)
      const custom = await sessionOf(pendingHost, of)
      assert.equal((await shake('c.test', { ...of, session: custom })).resumed, false)
    })

    it(`have no session resumed that was made with the service that had the name before, in ${version}`, async () => {
      all.tell(other({ domains: [{ fqdn: 'moved.test' }] }))
      const session = await sessionOf('moved.test', of)
      assert.equal((await shake('moved.test', { ...of, session })).resumed, true)
      all.tell({ kind: 'gone', what: 'service', id: 'other' })
      assert.equal((await shake('moved.test', { ...of, session })).resumed, false)
      all.tell(other({ uuid: 'third', domains: [{ fqdn: 'moved.test' }] }))
      assert.equal((await shake('moved.test', { ...of, session })).resumed, false)
    })
  }

  it('that can not be used fail only for their own names, are reported once, and are used as soon as they are mended', async () => {
    const broken: readonly CertificatePem[] = [
      { chain: 'none', key: first.key },
      { chain: first.chain, key: 'none' },
      { chain: first.chain, key: second.key },
    ]
    for (const pem of broken) {
      told = []
      all.tell(certificate('c', pem))
      for (let again = 0; again < 2; again++) {
        assert.match((await shake(pendingHost)).outcome, /unrecognized name/)
        assert.equal((await shake(testHost)).outcome, 'secure')
      }
      assert.equal(told.length, 1)
      const text = JSON.stringify(told)
      assert.match(text, /"certificateUuid":"c"/)
      for (const secret of [pem.key, pem.chain]) assert(!text.includes(JSON.stringify(secret)))
      assert.equal(await all.metric('roost_gateway_unusable_certificates'), 1)
    }
    const of = '{outcome="unusable-certificate"}'
    assert.equal(await all.metric(`roost_gateway_handshakes_total${of}`), broken.length * 2)
    assert.equal(await all.metric('roost_gateway_refusals_total{reason="certificate"}'), broken.length * 2)
    all.tell(certificate('c', first))
    assert.equal((await shake(pendingHost)).fingerprint, fingerprintOf(first))
    assert.equal(await all.metric('roost_gateway_unusable_certificates'), 0)
  })

  it('of the exact name come before those of a wildcard, and those of a longer wildcard before a shorter one', async () => {
    const third = await namedCertificate({ name: pendingHost })
    const domains = [
      { fqdn: '*.test', certificateUuid: 'wide' },
      { fqdn: '*.deep.test', certificateUuid: 'deep' },
      { fqdn: 'a.deep.test', certificateUuid: 'exact' },
    ]
    all.tell(other({ domains }))
    all.tell(certificate('wide', first), certificate('deep', second), certificate('exact', third))
    assert.equal((await shake('a.deep.test')).fingerprint, fingerprintOf(third))
    assert.equal((await shake('b.deep.test')).fingerprint, fingerprintOf(second))
    assert.equal((await shake('b.test')).fingerprint, fingerprintOf(first))
  })

  it('tell when the first certificate in use expires', async () => {
    const expiry = async () => all.metric('roost_gateway_certificate_expiry_timestamp_seconds')
    const atSeconds = (ms: number): number => Math.floor(ms / 1_000)
    const soonMs = Date.now() + dayMs / 2
    const unused = await namedCertificate({ name: 'unused.test', notAfterMs: Date.now() + dayMs / 4 })
    const soon = await namedCertificate({ name: pendingHost, notAfterMs: soonMs })
    const metroMs = new X509Certificate(all.metro.current.chain).validToDate.getTime()
    all.tell(certificate('unused', unused))
    assert.equal(await expiry(), atSeconds(metroMs))
    all.tell(certificate('c', soon))
    assert.equal(await expiry(), atSeconds(soonMs))
    all.tell(certificate('c', { chain: 'none', key: '' }))
    assert.equal(await expiry(), atSeconds(metroMs))
  })

  it('do not need the first message in one piece', async () => {
    all.tell(certificate('c', first))
    const hello = await helloOf(pendingHost)
    const client = all.plainClient(443)
    client.setNoDelay(true)
    for (const byte of hello) client.write(Buffer.from([byte]))
    const [answer] = (await once(client, 'data')) as [Buffer]
    assert.equal(answer[0], 0x16)
    client.destroy()
  })

  it('let TLS refuse a client that speaks something else, and forget a client that leaves before its first message', async () => {
    const client = all.plainClient(443)
    client.write('GET / HTTP/1.1\r\n\r\n')
    await closed(client)
    const gone = all.plainClient(443)
    await once(gone, 'connect')
    gone.write(Buffer.from([0x16, 3, 1]))
    gone.end()
    const counted = async () => (await all.metric('roost_gateway_handshakes_total{outcome="failed"}')) === 2
    await until('both are counted', counted, { limitMs })
  })

  it('end a connection whose records are damaged after the handshake', async () => {
    const damage = { now: false }
    const relay = createServer((from) => {
      const to = connect(443 + all.portOffset, '127.0.0.1')
      from.on('data', (chunk: Buffer) => {
        if (damage.now) chunk[chunk.length - 1] = (chunk.at(-1) ?? 0) ^ 1
        to.write(chunk)
      })
      to.pipe(from)
      from.on('error', () => undefined)
      to.on('error', () => undefined)
    }).listen(0, '127.0.0.1')
    await once(relay, 'listening')
    const { port } = relay.address() as AddressInfo
    const client = all.client(port - all.portOffset)
    await once(client, 'secureConnect')
    const open = async () => (await all.metric('roost_gateway_connections{protocol="http"}')) === 1
    await until('the gateway has it', open, { limitMs })
    damage.now = true
    client.write('GET / HTTP/1.1\r\n')
    const left = async () => (await all.metric('roost_gateway_connections{protocol="http"}')) === 0
    await until('the connection is gone', left, { limitMs })
    relay.close()
  })
})

/** The first message (ClientHello) of a client that asks for `servername`. */
async function helloOf(servername: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connectTls({ port, host: '127.0.0.1', servername })
  client.on('error', () => undefined)
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [hello] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  server.close()
  return hello
}
