import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PublicGateway, everything, tcpPort } from '../support/public-gateway.ts'
import { testHost } from '../support/gateway-http.ts'
import { until } from '../support/until.ts'

const limitMs = 30_000
const request = `GET / HTTP/1.1\r\nHost: ${testHost}\r\nConnection: close\r\n\r\n`

describe('the metrics of the gateway', function () {
  this.timeout(limitMs)
  let all: PublicGateway

  beforeEach(async () => {
    all = await PublicGateway.start({ routesAgeMs: () => 4_500 })
    all.respond = (socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'))
  })
  afterEach(async () => all.close())

  async function ask(): Promise<string> {
    const client = all.client(443)
    client.write(request)
    return String(await everything(client))
  }

  it('count requests by protocol and answer, and tell how long they took, with and without their wait', async () => {
    host().answer = () => undefined
    const first = ask()
    const open = await host().next('open')
    assert.equal(await all.metric('roost_gateway_queued'), 1)
    host().open(open, { woken: { kind: 'restore', wakeUs: 80_000 } })
    assert.match(await first, /hi$/)
    await ask()
    const of = '{protocol="http/1.1",status="2xx"}'
    assert.equal(await all.metric(`roost_gateway_request_duration_seconds_count${of}`), 2)
    assert.equal(await all.metric('roost_gateway_wake_duration_seconds_count{kind="restore"}'), 1)
    assert.equal(await all.metric('roost_gateway_wake_duration_seconds_sum{kind="restore"}'), 0.08)
    assert.equal(await all.metric('roost_gateway_wake_duration_seconds_count{kind="boot"}'), 0)
    assert.equal(await all.metric('roost_gateway_queued'), 0)
  })

  it('count refusals by reason', async () => {
    host().answer = ({ instance, epoch }) =>
      ({ kind: 'refused', instance, epoch, reason: 'failed', message: 'full', retryAfterMs: 9_000 }) as const
    assert.match(await ask(), /^HTTP\/1\.1 503 /)
    await ask()
    assert.equal(await all.metric('roost_gateway_refusals_total{reason="wake-failed"}'), 2)
    const of = '{protocol="http/1.1",status="5xx"}'
    assert.equal(await all.metric(`roost_gateway_request_duration_seconds_count${of}`), 2)
  })

  it('tell the present numbers of ports, hosts, connections and leases, and the age of the routes', async () => {
    all.respond = (socket) => socket.pipe(socket)
    const client = all.client(tcpPort)
    client.write('a')
    await once(client, 'data')
    for (const [line, value] of [
      ['roost_gateway_listening_ports', 3],
      ['roost_gateway_wanted_ports', 3],
      ['roost_gateway_hosts', 1],
      ['roost_gateway_connected_hosts', 1],
      ['roost_gateway_connections{protocol="tcp"}', 1],
      ['roost_gateway_connections{protocol="http"}', 0],
      ['roost_gateway_leases{phase="open"}', 1],
      ['roost_gateway_routes_age_seconds', 4.5],
    ] as const)
      assert.equal(await all.metric(line), value, line)
    client.destroy()
    await until(
      'it is gone',
      async () => (await all.metric('roost_gateway_connections{protocol="tcp"}')) === 0,
      {
        limitMs,
      },
    )
  })

  function host(): PublicGateway['host'] {
    return all.host
  }
})
