import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createHealthServer } from '../../src/bin/gateway-health.ts'
import { createPartClient, PartUnreachable } from '../../src/control/part-client.ts'
import { StartKind } from '../../src/domain/instance/start-report.ts'
import type { RouteLine } from '../../src/domain/service/route-feed.ts'
import { HttpProtocol } from '../../src/gateway/http/request-observer.ts'
import { ServiceTotals } from '../../src/gateway/processes/service-totals.ts'
import { RouteTable } from '../../src/gateway/route-table.ts'
import { ServiceCounts } from '../../src/gateway/service-counts.ts'

const millisecondUs = 1_000

function request(
  serviceUuid: string | undefined,
  status: number,
  totalMs: number,
  over: { readonly protocol?: HttpProtocol; readonly rolloutUuid?: string } = {},
) {
  const defaults = { protocol: HttpProtocol.Http1, rolloutUuid: undefined }
  return { serviceUuid, status, totalUs: totalMs * millisecondUs, ...defaults, ...over }
}

function service(uuid: string, rolloutUuid?: string): RouteLine {
  const limits = { softLimit: 1, hardLimit: 1 }
  const rollout = rolloutUuid === undefined ? {} : { rollout: { uuid: rolloutUuid, percent: 5, held: false } }
  return { kind: 'service', service: { uuid, name: uuid, domains: [], ports: [], ...limits, ...rollout } }
}

/** Applies a block to the table, and then to the totals, as the main process does. */
function applyBlock(table: RouteTable, totals: ServiceTotals, ...lines: readonly RouteLine[]): void {
  const block: readonly RouteLine[] = [
    { kind: 'begin', snapshot: false },
    ...lines,
    { kind: 'end', revision: '2' },
  ]
  for (const line of block) table.apply(line)
  totals.applied(block)
}

function tableWith(...uuids: readonly string[]): RouteTable {
  const table = new RouteTable({ builtIn: [] })
  const services = uuids.map((uuid) => service(uuid))
  for (const line of [
    { kind: 'begin', snapshot: true },
    ...services,
    { kind: 'end', revision: '1' },
  ] as const satisfies readonly RouteLine[])
    table.apply(line)
  return table
}

describe('the counts of services', () => {
  it('have requests by class of status and by duration, and wakes by kind', () => {
    const counts = new ServiceCounts()
    for (const [status, totalMs] of [
      [200, 5],
      [204, 70],
      [499, 70],
      [503, 20_000],
    ] as const)
      counts.request(request('a', status, totalMs))
    counts.request(request('a', 101, 3_600_000, { protocol: HttpProtocol.WebSocket }))
    counts.request(request(undefined, 404, 1))
    counts.woken({
      serviceUuid: 'a',
      rolloutUuid: undefined,
      kind: StartKind.Restore,
      wakeUs: 120 * millisecondUs,
    })
    const taken = counts.take()
    assert.deepEqual([...taken.keys()], ['a'])
    const { requests, durations, wakes } = taken.get('a')!
    assert.deepEqual(requests, { '2xx': 2, 499: 1, '5xx': 1, '1xx': 1 })
    // Up to 10 ms, 50 ms, 100 ms, …, above 10 s. A WebSocket has no duration.
    assert.deepEqual(durations.counts, [1, 0, 2, 0, 0, 0, 0, 0, 1])
    assert.equal(durations.seconds.toFixed(3), '20.145')
    assert.deepEqual(wakes, { [StartKind.Restore]: { counts: [0, 1, 0, 0, 0, 0, 0], seconds: 0.12 } })
    assert.equal(counts.take().size, 0, 'what was taken is not counted twice')
  })

  it('of all processes are added up, and forgotten with their service', () => {
    const table = tableWith('a', 'b')
    const totals = new ServiceTotals(table)
    for (const process of [new ServiceCounts(), new ServiceCounts()]) {
      for (const uuid of ['a', 'b', 'deleted before']) process.request(request(uuid, 200, 1))
      totals.add(process.take())
    }
    assert.deepEqual(totals.of(['a', 'unknown', 'deleted before'])['a']?.requests, { '2xx': 2 })
    assert.deepEqual(Object.keys(totals.of(['a', 'unknown', 'deleted before'])), ['a'])
    applyBlock(table, totals, { kind: 'gone', what: 'service', id: 'a' })
    assert.deepEqual(Object.keys(totals.of(['a', 'b'])), ['b'])
  })

  it('have what the new version of a rollout was given twice: for the service and for the rollout', () => {
    const counts = new ServiceCounts()
    counts.request(request('a', 200, 1))
    counts.request(request('a', 502, 70, { rolloutUuid: 'r' }))
    counts.woken({ serviceUuid: 'a', rolloutUuid: 'r', kind: StartKind.Restore, wakeUs: 1 })
    const taken = counts.take()
    assert.deepEqual(taken.get('a')?.requests, { '2xx': 1, '5xx': 1 })
    assert.deepEqual(taken.get('r')?.requests, { '5xx': 1 })
    assert.deepEqual(taken.get('r')?.durations.counts, [0, 0, 1, 0, 0, 0, 0, 0, 0])
    assert.deepEqual(taken.get('r')?.wakes, taken.get('a')?.wakes)
  })

  it('of a rollout are forgotten with it, and with its service', () => {
    const table = tableWith('a', 'b')
    const totals = new ServiceTotals(table)
    const counted = (): readonly string[] => {
      const counts = new ServiceCounts()
      for (const uuid of ['a', 'b']) counts.request(request(uuid, 200, 1, { rolloutUuid: `r-${uuid}` }))
      totals.add(counts.take())
      return Object.keys(totals.of(['a', 'b', 'r-a', 'r-b']))
    }
    assert.deepEqual(counted(), ['a', 'b'])
    applyBlock(table, totals, service('a', 'r-a'), service('b', 'r-b'))
    assert.deepEqual(counted(), ['a', 'b', 'r-a', 'r-b'])
    applyBlock(table, totals, service('a'))
    assert.deepEqual(Object.keys(totals.of(['a', 'b', 'r-a', 'r-b'])), ['a', 'b', 'r-b'])
    assert.deepEqual(counted(), ['a', 'b', 'r-b'])
    applyBlock(table, totals, { kind: 'gone', what: 'service', id: 'b' })
    assert.deepEqual(Object.keys(totals.of(['a', 'b', 'r-a', 'r-b'])), ['a'])
  })

  it('are told to the API, which has the token of gateways, and to nobody else', async () => {
    const totals = new ServiceTotals(tableWith('a'))
    const counts = new ServiceCounts()
    counts.request(request('a', 200, 1))
    totals.add(counts.take())
    const server = createHealthServer({
      metrics: async () => 'one 1\n',
      notReady: () => undefined,
      token: 'the token',
      trafficOf: (uuids) => totals.of(uuids),
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const place = { part: 'gateway', name: 'g', address } as const
    const silent = { part: 'gateway', name: 'away', address: 'http://127.0.0.1:1' } as const
    const api = createPartClient({ places: [place, silent], gatewayToken: 'the token' })
    const stranger = createPartClient({ places: [place], gatewayToken: 'another' })
    const problems: string[] = []
    try {
      const [told, ...none] = await api.readTraffic(['a', 'b'], ({ message }) => problems.push(message))
      assert.deepEqual(none, [])
      assert.equal(told?.gateway, '1')
      assert.match(told.run, /^[0-9a-f-]{36}$/)
      assert.deepEqual(told.traffic['a']?.requests, { '2xx': 1 })
      assert.deepEqual(problems, ['the gateway at away does not answer'])
      assert.equal(await api.readMetrics(place), 'one 1\n')
      await assert.rejects(api.readMetrics(silent), PartUnreachable)
      assert.deepEqual(await stranger.readTraffic(['a'], ({ message }) => problems.push(message)), [])
      assert.equal(problems.at(-1), 'the gateway at g answered 401')
    } finally {
      await Promise.all([api.close(), stranger.close()])
      server.closeAllConnections()
      server.close()
    }
  })
})
