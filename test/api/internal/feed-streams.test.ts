import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { FeedTimes } from '../../../src/api/internal/feed-stream.ts'
import { readFeed } from '../../../src/db/service/feed-read.ts'
import { routesQuery } from '../../../src/db/sql/feed.ts'
import type { NameLine, RouteLine } from '../../../src/domain/service/route-feed.ts'
import { RouteTable } from '../../../src/gateway/route-table.ts'
import { LineStream } from '../../../src/primitives/line-stream.ts'
import { addNode, testAgentSecret } from '../../support/accounts.ts'
import { startTestApi, testGatewayToken, testMetroDomain } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { settledFeed } from '../../support/settled-feed.ts'
import { until } from '../../support/until.ts'
import { readRows } from '../../support/rows.ts'

const limitMs = 20_000
const times: FeedTimes = { beatMs: 50, slowReaderMs: 300, gapMs: 5, rereadMs: 60_000 }

describe('the streams of the feed', () => {
  let api: TestApi
  let user: TestUser
  let streams: LineStream[]
  before(async () => {
    api = await startTestApi({ settings: { feedTimes: times } })
    await addNode(api.database, { id: 'second' })
    user = await api.addUser({ hard: { instances: 10_000, serviceGroups: 10_000, services: 10_000 } })
  })
  beforeEach(() => {
    streams = []
  })
  afterEach(() => Promise.all(streams.map((stream) => stream.stop())))
  after(() => api.close())

  function follow<Line extends object>(
    path: string,
    { token, lines, since }: { token: string; lines: Line[]; since?: () => string | undefined },
  ) {
    const statuses: (number | undefined)[] = []
    const stream = new LineStream({
      ask() {
        const url = new URL(path, api.url)
        const revision = since?.()
        if (revision !== undefined) url.searchParams.set('since', revision)
        return { url, headers: { authorization: `Bearer ${token}` } }
      },
      maxLineBytes: 1 << 20,
      silenceMs: 30_000,
      onLine: (line) => lines.push(line as Line),
      onChange: (change) => statuses.push(change.connected ? 200 : change.status),
    })
    streams.push(stream)
    stream.start()
    return { lines, statuses, stream }
  }
  const routesPath = '/internal/gateway/routes'
  const followRoutes = (since: () => string | undefined = () => undefined) =>
    follow<RouteLine>(routesPath, { token: testGatewayToken, lines: [], since })
  const followNames = (node: string) =>
    follow<NameLine>(`/internal/nodes/${node}/names`, { token: testAgentSecret(node), lines: [] })
  const ends = (lines: readonly RouteLine[]) =>
    lines.flatMap((line) => (line.kind === 'end' ? [line.revision] : []))
  const addService = (name: string) =>
    user.api.one('createServices', { body: { name, services: [{ port: 443, destination_port: 8080 }] } })
  const addInstance = (name: string, service: string) =>
    user.api.one('createInstances', { body: { image: 'hello', name, service_group: { name: service } } })

  it('admit only gateways to the routes, and only a host to its own names', async () => {
    for (const token of ['nonsense', user.token, 'the-join-token-of-the-tests', testAgentSecret('local')]) {
      assert.equal((await api.send({ path: routesPath, token })).status, 401)
    }
    assert.equal((await api.send({ path: routesPath })).status, 401)
    for (const token of ['nonsense', testGatewayToken, testAgentSecret('second')]) {
      assert.equal((await api.send({ path: '/internal/nodes/local/names', token })).status, 401)
    }
  })

  it('are not found under the public name of the API, like all that only parts of the platform use', async () => {
    for (const name of [`api.${testMetroDomain}`, `API.${testMetroDomain}:8443`]) {
      const headers = { 'x-forwarded-host': name, authorization: `Bearer ${testGatewayToken}` }
      for (const path of [routesPath, '/internal/nodes/local/names', '/internal/nodes/local', '/metrics']) {
        assert.equal((await api.send({ path, headers })).status, 404, path)
      }
      assert.equal((await api.send({ path: '/healthz', headers })).status, 200)
      assert.equal(
        (
          await api.send({
            path: '/v1/instances/list',
            token: user.token,
            headers: { 'x-forwarded-host': name },
          })
        ).status,
        200,
      )
    }
    assert.equal((await api.send({ path: '/metrics' })).status, 200)
  })

  it('tell a gateway what there is, and what changes, as it changes', async () => {
    const service = await addService('first')
    const table = new RouteTable()
    const { lines } = followRoutes()
    await until('the snapshot', () => ends(lines).length > 0, { limitMs })
    lines.forEach((line) => table.apply(line))
    assert.deepEqual(lines[0], { kind: 'begin', snapshot: true })
    assert.deepEqual(table.service(service.uuid)?.ports, [
      { port: 443, destinationPort: 8080, handlers: ['tls', 'http'] },
    ])
    assert.equal(table.serviceOf(service.domains[0]!.fqdn)?.uuid, service.uuid)
    assert.ok(table.node('local'))

    const told = lines.length
    const instance = await addInstance('web', 'first')
    await until('the instance', () => lines.some((line) => line.kind === 'instance'), { limitMs })
    await until('its block', () => lines.at(-1)?.kind === 'end' || lines.at(-1)?.kind === 'beat', { limitMs })
    lines.slice(told).forEach((line) => table.apply(line))
    assert.deepEqual(
      table.instancesOf(service.uuid).map(({ uuid }) => uuid),
      [instance.uuid],
    )
  })

  it('tell a gateway what a change of a service did, in one block', async () => {
    const service = await addService('changing')
    const [{ fqdn }] = service.domains as [{ fqdn: string }]
    const { lines } = followRoutes()
    await until('the snapshot', () => ends(lines).length > 0, { limitMs })
    const change = async (body: object) => {
      const told = lines.length
      await user.api.one('updateServices', { object: 'changing', body })
      await until('the block', () => ends(lines.slice(told)).length > 0, { limitMs })
      const table = new RouteTable()
      lines.forEach((line) => table.apply(line))
      const { domains: _, ...seen } = table.service(service.uuid)!
      return { ...seen, names: [fqdn, `next.${testMetroDomain}`].map((name) => table.serviceOf(name)?.uuid) }
    }
    const ports = [{ port: 8443, destinationPort: 8443, handlers: ['tls'] }]
    const limits = { softLimit: 3, hardLimit: 40 }
    assert.partialDeepStrictEqual(await change({ soft_limit: 3, hard_limit: 40 }), limits)
    assert.partialDeepStrictEqual(await change({ services: [{ port: 8443 }] }), { ...limits, ports })
    const moved = { del: { domains: [fqdn] }, add: { domains: [{ name: 'next' }] } }
    const { names } = await change(moved)
    assert.deepEqual(names, [undefined, service.uuid])
  })

  it('go on from the revision that a reader has, without telling everything again', async () => {
    await settledFeed(api.database, () => readFeed(api.database, routesQuery, undefined))
    const first = followRoutes()
    await until('the snapshot', () => ends(first.lines).length > 0, { limitMs })
    await first.stream.stop()
    const revision = ends(first.lines).at(-1)
    const service = await addService('meanwhile')
    const second = followRoutes(() => revision)
    await until('what came meanwhile', () => ends(second.lines).length > 0, { limitMs })
    assert.deepEqual(second.lines[0], { kind: 'begin', snapshot: false })
    const told = second.lines.filter(({ kind }) => kind !== 'beat').slice(1, -1)
    assert.deepEqual(
      told.map((line) => line.kind === 'service' && line.service.uuid),
      [service.uuid],
    )
  })

  it('send beats while nothing happens', async () => {
    const { lines } = followRoutes()
    await until('beats', () => lines.filter(({ kind }) => kind === 'beat').length >= 3, { limitMs })
  })

  it('tell a host the names on it, renames and ends, and nothing of others', async () => {
    const here = followNames('local')
    const there = followNames('second')
    const blocks = (lines: readonly NameLine[]) => lines.some(({ kind }) => kind === 'end')
    await until('both', () => blocks(here.lines) && blocks(there.lines), { limitMs })
    const { uuid } = await addInstance('named', 'first')
    await readRows(api.database, {
      text: `update instances set node_id = 'local', private_ip = '10.64.200.1' where uuid = $1`,
      values: [uuid],
    })
    const name = { uuid, userUuid: user.uuid, name: 'named', privateIp: '10.64.200.1' }
    const has = (lines: readonly NameLine[]) =>
      lines.some(
        (line) => line.kind === 'name' && line.name.privateIp === name.privateIp && line.name.uuid === uuid,
      )
    await until('the name', () => has(here.lines), { limitMs })
    await user.api.call('deleteInstances', { body: { uuid } })
    await until('its end', () => here.lines.some((line) => line.kind === 'gone' && line.id === uuid), {
      limitMs,
    })
    assert.ok(!has(there.lines))
  })

  it('drop a reader that does not take what is written', async () => {
    await readRows(api.database, {
      text: `insert into services (uuid, user_uuid, name, persistent, soft_limit, hard_limit, ports)
        select gen_random_uuid(), $1, 'many-' || n, true, 1, 1, '[]' from generate_series(1, 50000) n`,
      values: [user.uuid],
    })
    // A request is logged when its answer has ended. So these lines count the answers that have ended.
    const answersEnded = () => api.logLines.filter((line) => line.includes('"internal.routes"')).length
    const endedBefore = answersEnded()
    const { port, hostname } = new URL(api.url)
    const socket = connect(Number(port), hostname)
    try {
      await once(socket, 'connect')
      socket.pause()
      socket.write(
        `GET ${routesPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${testGatewayToken}\r\n\r\n`,
      )
      await until('the end of the answer', () => answersEnded() > endedBefore, { limitMs })
    } finally {
      socket.destroy()
      await readRows(api.database, { text: `delete from services where name like 'many-%'` })
    }
  })

  it('serve up to eight readers of one host at a time', async () => {
    const readers = Array.from({ length: 9 }, () => followNames('second'))
    await until('answers', () => readers.every(({ statuses }) => statuses.length > 0), { limitMs })
    const count = (status: number) => readers.filter(({ statuses }) => statuses[0] === status).length
    assert.deepEqual([count(200), count(503)], [8, 1])
    await readers.find(({ statuses }) => statuses[0] === 200)!.stream.stop()
    const refused = readers.find(({ statuses }) => statuses[0] === 503)!
    await until('the place that became free', () => refused.statuses.includes(200), { limitMs })
  })

  it('end when the API stops, and their readers try again', async () => {
    const reader = followRoutes()
    await until('the snapshot', () => ends(reader.lines).length > 0, { limitMs })
    api.stopping.abort()
    await until('the end', () => reader.statuses.length > 1, { limitMs })
    assert.equal(reader.statuses[1], undefined)
  })
})
