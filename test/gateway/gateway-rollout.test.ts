import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { ServiceTraffic } from '../../src/domain/service/service-traffic.ts'
import type { TrafficOfServices } from '../../src/gateway/service-counts.ts'
import { testHost } from '../support/gateway-http.ts'
import { PublicGateway, everything, tcpPort } from '../support/public-gateway.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000
const rolloutUuid = 'rollout-1'

function answering(status: string): (socket: Socket) => void {
  return (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\nhi`))
  }
}

describe('a gateway during a rollout', function () {
  this.timeout(limitMs)
  let all: PublicGateway
  let newApplication: Server
  /** What the new version does with a connection. */
  let newResponds: (socket: Socket) => void

  beforeEach(async () => {
    // No boot counts as fresh, so a refused connection is an answer at once.
    all = await PublicGateway.start({ balanceLimits: { freshMs: 0 } })
    all.respond = answering('200 OK')
    newResponds = answering('500 Broken')
    newApplication = createServer({ allowHalfOpen: true }, (socket) => newResponds(socket))
    newApplication.listen(0, '127.0.0.1')
    await once(newApplication, 'listening')
    const { port } = newApplication.address() as AddressInfo
    const address = { host: '127.0.0.1', port }
    const reach = { 8080: address, [tcpPort]: address }
    all.host.answer = ({ instance }) => (instance === 'new' ? { reach } : {})
  })
  afterEach(async () => {
    newApplication.close()
    await all.close()
  })

  function begin(percent: number, held = false): void {
    const rollout = { uuid: rolloutUuid, percent, held }
    all.tell(
      { kind: 'service', service: { ...all.service, rollout } },
      { kind: 'instance', instance: { ...all.instance, uuid: 'new', name: 'new', isNext: true } },
    )
  }

  async function ask(method = 'GET', body = ''): Promise<string> {
    const client = all.client(443)
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`
    client.write(`${method} / HTTP/1.1\r\nHost: ${testHost}\r\nConnection: close\r\n${length}\r\n${body}`)
    return String(await everything(client)).slice(9, 12)
  }

  /** The requests by class of status, of the service and of the new version. */
  function requestsOf(counts: TrafficOfServices): readonly (ServiceTraffic['requests'] | undefined)[] {
    return [all.service.uuid, rolloutUuid].map((uuid) => counts.get(uuid)?.requests)
  }

  it('counts for the rollout what the new version was given, and for the service everything', async () => {
    begin(30)
    const statuses: string[] = []
    for (let each = 0; each < 20; each++) statuses.push(await ask())
    assert.equal(statuses.filter((status) => status === '500').length, 6)
    const counts = all.gateway.takeServiceCounts()
    assert.deepEqual(requestsOf(counts), [{ '2xx': 14, '5xx': 6 }, { '5xx': 6 }])
    assert.equal(
      counts.get(rolloutUuid)?.durations.counts.reduce((sum, each) => sum + each, 0),
      6,
    )
  })

  it('counts its own answer for the new version where that closed before it answered', async () => {
    newResponds = (socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.resetAndDestroy())
    }
    begin(100)
    assert.equal(await ask('POST', 'body'), '502')
    assert.deepEqual(requestsOf(all.gateway.takeServiceCounts()), [{ '5xx': 1 }, { '5xx': 1 }])
  })

  it('counts a request for the version that answered it', async () => {
    all.host.answer = ({ instance, epoch }) =>
      instance === 'new'
        ? { kind: 'refused', instance, epoch, reason: 'failed', message: '', retryAfterMs: 9_000 }
        : { boot: 1 }
    begin(100)
    assert.equal(await ask(), '200')
    assert.deepEqual(requestsOf(all.gateway.takeServiceCounts()), [{ '2xx': 1 }, undefined])
  })

  it('counts a request for the version that was asked first if none could take it', async () => {
    const message = 'It does not come up.'
    all.host.answer = ({ instance, epoch }) =>
      ({ kind: 'refused', instance, epoch, reason: 'failed', message, retryAfterMs: 9_000 }) as const
    begin(50)
    assert.deepEqual([await ask(), await ask()], ['503', '503'])
    assert.deepEqual(requestsOf(all.gateway.takeServiceCounts()), [{ '5xx': 2 }, { '5xx': 1 }])
  })

  it('counts nothing of a new version whose rollout is over, or never was', async () => {
    assert.equal(await ask(), '200')
    begin(100)
    all.tell({ kind: 'service', service: all.service })
    for (let each = 0; each < 10; each++) await ask()
    assert.equal(all.gateway.takeServiceCounts().has(rolloutUuid), false)
  })

  it('whose new version accepts no connection gives everything to the current one, and tells it as failures', async () => {
    newApplication.close()
    await once(newApplication, 'close')
    all.respond = (socket) => {
      let text = ''
      socket.on('data', (chunk: Buffer) => {
        text += String(chunk)
        if (text === 'tcp') return socket.end(text)
        const isWhole = text.startsWith('POST')
          ? /body(\r\n0\r\n\r\n)?$/.test(text)
          : text.endsWith('\r\n\r\n')
        return isWhole && socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      })
    }
    begin(100)
    for (const request of [
      'GET / HTTP/1.1\r\n\r\n',
      'POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody',
      'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n',
      'GET / HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    ]) {
      const client = all.client(443)
      const connection = request.includes('Upgrade') ? 'Upgrade' : 'close'
      client.write(request.replace('\r\n', `\r\nHost: ${testHost}\r\nConnection: ${connection}\r\n`))
      assert.match(String(await everything(client)), /^HTTP\/1\.1 200 /)
      client.destroy()
    }
    const client = all.client(tcpPort)
    client.write('tcp')
    assert.equal(String(await everything(client)), 'tcp')
    // The service has no failure. The rollout has one for each request: whoever carries it out has to see it.
    assert.deepEqual(requestsOf(all.gateway.takeServiceCounts()), [{ '2xx': 4 }, { '5xx': 4 }])
    assert.equal(await all.metric('roost_gateway_upstream_errors_total{kind="refused"}'), 4)
    assert.equal(await all.metric('roost_gateway_upstream_errors_total{kind="connect"}'), 1)
  })

  it('counts wakes of the new version', async () => {
    const { answer } = all.host
    all.host.answer = (open) => ({ ...answer(open), woken: { kind: 'restore', wakeUs: 5 } })
    begin(100)
    await ask()
    const wakes = all.gateway.takeServiceCounts().get(rolloutUuid)?.wakes
    assert.equal(wakes?.restore?.counts[0], 1)
  })

  it('divides TCP connections and WebSockets too', async () => {
    const named = (name: string) => (socket: Socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (chunk: Buffer) => {
        const key = /sec-websocket-key: (.*)\r\n/i.exec(String(chunk))?.[1]
        if (key === undefined) return socket.end(name)
        const accept = createHash('sha1')
          .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
          .digest('base64')
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
            `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
        )
        return socket.end()
      })
    }
    all.respond = named('old')
    newResponds = named('new')
    begin(50)
    const answers: string[] = []
    for (let each = 0; each < 4; each++) {
      const client = all.client(tcpPort)
      client.write('who?')
      answers.push(String(await everything(client)))
      client.destroy()
    }
    assert.deepEqual(answers, ['old', 'new', 'old', 'new'])
    for (let each = 0; each < 4; each++) {
      const client = all.client(443)
      client.write(
        `GET / HTTP/1.1\r\nHost: ${testHost}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      )
      assert.match(String(await everything(client)), /^HTTP\/1\.1 101 /)
      client.destroy()
    }
    const sum: number[] = [0, 0]
    await until(
      'all are counted',
      () => {
        const told = requestsOf(all.gateway.takeServiceCounts())
        told.forEach((requests, index) => {
          sum[index] = (sum[index] ?? 0) + (requests?.['1xx'] ?? 0)
        })
        return sum[0] === 4
      },
      { limitMs },
    )
    assert.deepEqual(sum, [4, 2])
  })

  it('lets requests, TCP connections and their bytes wait during a hold', async () => {
    begin(0, true)
    const asked = Array.from({ length: 10 }, () => ask())
    const client = all.client(tcpPort)
    client.end('hi')
    await until('all wait', async () => (await all.metric('roost_gateway_queued')) === 11, { limitMs })
    begin(0)
    assert.deepEqual(new Set(await Promise.all(asked)), new Set(['200']))
    assert.match(String(await everything(client)), /hi$/)
  })
})
