import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RouteChallenge, RouteLine } from '../../src/domain/service/route-feed.ts'
import { PublicGateway, closed, everything, pendingHost } from '../support/public-gateway.ts'
import { testHost } from '../support/gateway-http.ts'

const limitMs = 30_000
const token = 'LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0'
const keyAuthorization = `${token}.9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI`
const path = `/.well-known/acme-challenge/${token}`

function challenge(over: Partial<RouteChallenge> = {}): RouteLine {
  return {
    kind: 'challenge',
    challenge: { token, kind: 'http-01', fqdn: pendingHost, keyAuthorization, ...over },
  }
}

describe('the proof over HTTP that a name leads here', function () {
  this.timeout(limitMs)
  let all: PublicGateway

  beforeEach(async () => {
    all = await PublicGateway.start()
    all.respond = (socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\napp'))
  })
  afterEach(async () => all.close())

  async function ask(
    host: string,
    target = path,
    { method = 'GET', port = 80 }: { readonly method?: string; readonly port?: number } = {},
  ): Promise<string> {
    const client = port === 443 ? all.client(port, { servername: host }) : all.plainClient(port)
    client.write(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    return String(await everything(client))
  }

  /** Publishes one more port of the service, which leads to its application over HTTP. */
  function publish(port: number): void {
    const ports = [{ port, destinationPort: 8080, handlers: ['http'] as const }, ...all.service.ports]
    all.tell({ kind: 'service', service: { ...all.service, ports } })
  }

  it('is the key authorization as plain text that no cache keeps', async () => {
    all.tell(challenge())
    const answer = await ask(pendingHost)
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
    assert.match(answer, /\r\nContent-Type: text\/plain\r\n/)
    assert.match(answer, /\r\nCache-Control: no-store\r\n/)
    assert.equal(answer.split('\r\n\r\n')[1], keyAuthorization)
    assert.equal((await ask(pendingHost, path, { method: 'HEAD' })).split('\r\n\r\n')[1], '')
  })

  it('comes before redirects, in whatever case and with whatever port the name is written', async () => {
    const redirect = { port: 80, destinationPort: 443, handlers: ['http', 'redirect'] as const }
    all.tell(challenge(), {
      kind: 'service',
      service: { ...all.service, ports: [redirect, ...all.service.ports] },
    })
    assert.match(await ask(pendingHost, '/'), /^HTTP\/1\.1 308 /)
    assert.match(await ask(`${pendingHost.toUpperCase()}.:80`), /^HTTP\/1\.1 200 [^]*9jg46WB3/)
    assert.match(await ask(pendingHost, `http://${pendingHost}${path}`), /^HTTP\/1\.1 200 [^]*9jg46WB3/)
  })

  it('is given for a name that nobody serves, and for one that does not publish port 80', async () => {
    all.tell(challenge({ fqdn: 'new.test' }))
    assert.match(await ask('new.test'), /9jg46WB3/)
    all.tell(challenge())
    assert.match(await ask(pendingHost), /9jg46WB3/)
  })

  it('wakes no instance: no host is asked for a lease', async () => {
    publish(80)
    all.tell(challenge())
    assert.match(await ask(pendingHost), /9jg46WB3/)
    assert.equal(all.host.all('open').length, 0)
    assert.match(await ask(pendingHost, '/'), /app$/)
    assert.equal(all.host.all('open').length, 1)
  })

  it('is not given for another name or token, by another method, or on another port', async () => {
    all.tell(challenge(), challenge({ token: 'other', fqdn: 'other.test' }))
    const other = '/.well-known/acme-challenge/other'
    publish(80)
    const instead: readonly (readonly [string, Parameters<typeof ask>])[] = [
      ['another name', [testHost]],
      ['an unknown token', [pendingHost, `${path}x`]],
      ['no token', [pendingHost, '/.well-known/acme-challenge/']],
      ['a token of another name', [pendingHost, other]],
      ['another method', [pendingHost, path, { method: 'POST' }]],
    ]
    for (const [what, asked] of instead) assert.match(await ask(...asked), /\r\napp$/, what)
    assert.match(await ask(testHost, path, { port: 443 }), /\r\napp$/)
    assert.match(await ask('nobody.test'), /^HTTP\/1\.1 404 /)
    publish(8000)
    await all.listening()
    assert.match(await ask(pendingHost, path, { port: 8000 }), /\r\napp$/)
  })

  it('is not given if the challenge is one of TLS', async () => {
    all.tell(challenge({ kind: 'tls-alpn-01' }))
    assert.match(await ask(pendingHost), /^HTTP\/1\.1 404 /)
  })

  it('ends with the challenge', async () => {
    all.tell(challenge())
    assert.match(await ask(pendingHost), /9jg46WB3/)
    all.tell({ kind: 'gone', what: 'challenge', id: token })
    assert.match(await ask(pendingHost), /^HTTP\/1\.1 404 /)
  })

  it('leaves the connection open for what the authority asks next', async () => {
    all.tell(challenge())
    const client = all.plainClient(80)
    for (let asked = 0; asked < 2; asked++) {
      client.write(`GET ${path} HTTP/1.1\r\nHost: ${pendingHost}\r\n\r\n`)
      assert.match(String((await once(client, 'data'))[0]), /9jg46WB3/)
    }
    client.destroy()
  })

  it('is served on port 80, which stays open whatever services publish', async () => {
    const stays = async (): Promise<void> => {
      await all.listening()
      assert.match(await ask(pendingHost), /9jg46WB3/)
    }
    all.tell(challenge())
    publish(80)
    await stays()
    // A service that publishes port 80 for something else than HTTP does not get it.
    all.tell({
      kind: 'service',
      service: { ...all.service, ports: [{ port: 80, destinationPort: 1, handlers: ['tls'] }] },
    })
    await stays()
    all.tell({ kind: 'gone', what: 'service', id: all.service.uuid })
    await stays()
    const other = all.plainClient(8000)
    await closed(other)
    assert.equal(all.gateway.ports.listening, 2)
  })
})
