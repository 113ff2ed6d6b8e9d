import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import type { RouteChallenge, RouteLine } from '../../src/domain/service/route-feed.ts'
import type { CertificatePem } from '../../src/gateway/listeners/context-cache.ts'
import { namedCertificate } from '../support/named-certificate.ts'
import { PublicGateway, closed, pendingHost, tcpPort } from '../support/public-gateway.ts'
import { testHost } from '../support/gateway-http.ts'

const limitMs = 30_000
const protocol = 'acme-tls/1'
const keyAuthorization = 'token.thumbprint'

describe('the proof over TLS that a name leads here', function () {
  this.timeout(limitMs)
  let all: PublicGateway
  let proof: CertificatePem

  before(async () => {
    proof = await namedCertificate({ name: pendingHost, keyAuthorization })
  })
  beforeEach(async () => {
    all = await PublicGateway.start()
  })
  afterEach(async () => all.close())

  function challenge(over: Partial<RouteChallenge> = {}): RouteLine {
    const one = {
      token: 'token',
      kind: 'tls-alpn-01',
      fqdn: pendingHost,
      keyAuthorization,
      ...proof,
    } as const
    return { kind: 'challenge', challenge: { ...one, ...over } }
  }

  function issued(pem: CertificatePem): RouteLine {
    const certificate = { uuid: 'c', commonName: pendingHost, state: 'valid', ...pem } as const
    return { kind: 'certificate', certificate }
  }

  interface Seen {
    readonly outcome: string
    readonly agreed: string | false | null
    readonly fingerprint: string | undefined
    readonly client: TLSSocket
  }

  async function shake(over: ConnectionOptions, port = 443): Promise<Seen> {
    const client = all.client(port, over)
    const outcome = await once(client, 'secureConnect').then(() => 'secure', String)
    return {
      outcome,
      agreed: client.alpnProtocol,
      fingerprint: client.getPeerX509Certificate()?.fingerprint256,
      client,
    }
  }

  const asAuthority = { servername: pendingHost, ALPNProtocols: [protocol] }
  const fingerprintOf = ({ chain }: CertificatePem): string => new X509Certificate(chain).fingerprint256

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`is the challenge’s certificate under acme-tls/1 and nothing more, in ${version}`, async () => {
      all.tell(challenge())
      const seen = await shake({ ...asAuthority, minVersion: version, maxVersion: version })
      assert.equal(seen.outcome, 'secure')
      assert.equal(seen.client.getProtocol(), version)
      assert.equal(seen.agreed, protocol)
      assert.equal(seen.fingerprint, fingerprintOf(proof))
      // When the server ends its side, the client of the tests leaves its own side open. So it has to end it.
      seen.client.on('end', () => seen.client.end())
      await closed(seen.client)
      assert.equal(await all.metric('roost_gateway_handshakes_total{outcome="challenge"}'), 1)
      assert.equal(all.host.all('open').length, 0)
    })
  }

  it('is shown also beside other protocols, and for a name that nobody serves', async () => {
    all.tell(challenge({ fqdn: 'new.test' }))
    const seen = await shake({ servername: 'NEW.test', ALPNProtocols: ['h2', protocol] })
    assert.equal(seen.agreed, protocol)
    assert.equal(seen.fingerprint, fingerprintOf(proof))
  })

  it('is not resumed: an authority that looks again sees the certificate again', async () => {
    all.tell(challenge())
    const first = all.client(443, { ...asAuthority, maxVersion: 'TLSv1.2' })
    const [session] = (await once(first, 'session')) as [Buffer]
    const again = await shake({ ...asAuthority, maxVersion: 'TLSv1.2', session })
    assert.equal(again.client.isSessionReused(), false)
    assert.equal(again.fingerprint, fingerprintOf(proof))
  })

  it('is seen by nobody else: a pending name stays refused, and a served one has its own certificate', async () => {
    all.tell(challenge())
    for (const over of [{}, { ALPNProtocols: ['h2'] }, { ALPNProtocols: ['http/1.1'] }]) {
      assert.match((await shake({ servername: pendingHost, ...over })).outcome, /unrecognized name/)
    }
    const own = await namedCertificate({ name: pendingHost })
    all.tell(issued(own))
    const served = await shake({ servername: pendingHost, ALPNProtocols: ['h2', 'http/1.1'] })
    assert.equal(served.agreed, 'h2')
    assert.equal(served.fingerprint, fingerprintOf(own))
    assert.equal((await shake(asAuthority)).fingerprint, fingerprintOf(proof))
    served.client.destroy()
  })

  it('is shown only for its own name, on port 443, while there is a challenge, and only one for TLS', async () => {
    const none = /no application protocol|unrecognized name/
    all.tell(challenge())
    assert.match((await shake({ ...asAuthority, servername: testHost })).outcome, /no application protocol/)
    assert.match((await shake(asAuthority, tcpPort)).outcome, /unrecognized name/)
    all.tell(challenge({ kind: 'http-01' }))
    assert.match((await shake(asAuthority)).outcome, none)
    all.tell(challenge())
    assert.equal((await shake(asAuthority)).outcome, 'secure')
    all.tell({ kind: 'gone', what: 'challenge', id: 'token' })
    assert.match((await shake(asAuthority)).outcome, none)
  })

  it('is never agreed on for an application, which may have all other protocols', async () => {
    const lone = await shake({ servername: testHost, ALPNProtocols: [protocol] }, tcpPort)
    assert.match(lone.outcome, /no application protocol/)
    const other = await shake({ servername: testHost, ALPNProtocols: [protocol, 'postgresql'] }, tcpPort)
    assert.equal(other.agreed, 'postgresql')
    other.client.destroy()
  })

  it('fails without harm to others if its certificate can not be used', async () => {
    all.tell(challenge({ chain: 'none' }), issued(proof))
    assert.match((await shake(asAuthority)).outcome, /no application protocol/)
    assert.equal((await shake({ servername: testHost })).outcome, 'secure')
    assert.equal(await all.metric('roost_gateway_unusable_certificates'), 1)
    all.tell(challenge())
    assert.equal((await shake(asAuthority)).fingerprint, fingerprintOf(proof))
    assert.equal(await all.metric('roost_gateway_unusable_certificates'), 0)
  })
})
