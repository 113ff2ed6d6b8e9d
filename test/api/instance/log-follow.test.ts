import assert from 'node:assert/strict'
import { join } from 'node:path'
import { NodeUnavailable } from '../../../src/control/host-client.ts'
import { createToken, revokeToken } from '../../../src/db/account/tokens.ts'
import { TokenScope } from '../../../src/domain/account/token-scope.ts'
import { ConsoleWriter } from '../../../src/host/console/console-writer.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { followEvents } from '../../support/followed-events.ts'
import type { FollowedEvents } from '../../support/followed-events.ts'
import { startLogHost } from '../../support/log-host.ts'
import type { LogHost } from '../../support/log-host.ts'
import { readRows } from '../../support/rows.ts'
import { until } from '../../support/until.ts'

describe('a log that is followed', () => {
  let api: TestApi
  let user: TestUser
  let host: LogHost
  let uuid: string
  let name: string
  const open: FollowedEvents[] = []

  before(async () => {
    api = await startTestApi({ settings: { streamTimes: { beatMs: 300, slowMs: 500 } } })
    user = await api.addUser()
    host = await startLogHost(api)
  })
  beforeEach(async () => {
    const made = await user.api.one('createInstances', { body: { image: 'hello' } })
    uuid = made.uuid
    name = made.name
    host.asked.length = 0
  })
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close()
  })
  after(async () => {
    await api.close()
    await host.close()
  })

  const print = (text: string) => host.print(uuid, text)
  async function follow(options: { query?: string; lastEventId?: number; token?: string; of?: string } = {}) {
    const { query = '', lastEventId, token = user.token, of = name } = options
    const stream = await followEvents(`${api.url}/v1/instances/${of}/log?follow=true${query}`, {
      token,
      ...(lastEventId === undefined ? {} : { lastEventId }),
    })
    open.push(stream)
    return stream
  }
  const textOf = ({ seen }: FollowedEvents) =>
    seen
      .filter(({ type }) => type === 'log')
      .map(({ data }) => Buffer.from(data.output, 'base64').toString())
      .join('')
  const has = (stream: FollowedEvents, text: string) =>
    until(`'${text}' has come`, async () => textOf(stream) === text, { limitMs: 5_000 })

  it('begins with what is kept and goes on with what is printed, from before the first start on', async () => {
    const stream = await follow({ of: uuid })
    const [first] = await stream.atLeast(1)
    assert.deepEqual([first!.id, first!.type], ['0', 'log'])
    await print('one\n')
    await has(stream, 'one\n')
    await print('two\n')
    await has(stream, 'one\ntwo\n')
    assert.deepEqual(stream.seen.at(-1), {
      id: '8',
      type: 'log',
      data: {
        status: 'success',
        uuid,
        name,
        output: Buffer.from('two\n').toString('base64'),
        available: { start: 0, end: 8 },
        range: { start: 4, end: 8 },
      },
    })
  })

  it('goes on after the last id, byte for byte, whatever the query says', async () => {
    await print('0123456789')
    const stream = await follow({ query: '&offset=0', lastEventId: 4 })
    await has(stream, '456789')
    await print('abc')
    await has(stream, '456789abc')
  })

  it('tells a long log in pieces that follow each other', async () => {
    const long = 'x'.repeat(200_000)
    await print(long)
    const stream = await follow({ query: '&offset=0' })
    await has(stream, long)
    const ranges = stream.seen.map(({ data }) => data.range)
    assert.ok(ranges.length >= 4)
    assert.ok(ranges.slice(1).every(({ start }, index) => start === ranges[index].end))
  })

  it('tells the gap if bytes were dropped before the client got them', async () => {
    const writer = new ConsoleWriter(join(host.root, uuid), { segmentBytes: 10, segmentsKept: 2 })
    for (const digit of '01234') await writer.append(Buffer.from(digit.repeat(10)))
    const stream = await follow({ lastEventId: 5 })
    const [gap] = await stream.atLeast(2)
    assert.deepEqual([gap!.id, gap!.type], ['30', 'gap'])
    const message = 'the bytes from 5 to 30 are not kept any more'
    assert.deepEqual(gap!.data, { after: 5, goes_on_with: 30, message })
    assert.equal(textOf(stream), '3'.repeat(10) + '4'.repeat(10))
  })

  it('says that the log is shorter than the client knows it, and goes on at its end', async () => {
    await print('new\n')
    const stream = await follow({ lastEventId: 1_000 })
    const [gap] = await stream.atLeast(1)
    assert.deepEqual([gap!.type, gap!.data.goes_on_with], ['gap', 4])
    await print('more\n')
    await has(stream, 'more\n')
  })

  it('asks the host once per beat while nothing is printed, and sends comments', async () => {
    const stream = await follow()
    await stream.atLeast(1)
    await until('the host was asked some times', async () => host.asked.length >= 4, { limitMs: 5_000 })
    const times = host.asked.slice(1).map(({ waitMs }) => waitMs)
    assert.ok(times.every((waitMs) => waitMs === 300))
    const begin = performance.now()
    const before = host.asked.length
    await until('three beats are over', async () => host.asked.length >= before + 3, { limitMs: 5_000 })
    assert.ok(performance.now() - begin > 500, 'the host waits')
    assert.equal(stream.ended, false)
  })

  it('goes on when a silent host answers again', async () => {
    const readLog = api.nodes.readLog
    const stream = await follow()
    await stream.atLeast(1)
    api.nodes.readLog = () => Promise.reject(new NodeUnavailable('restarting'))
    await print('meanwhile\n')
    await new Promise((resolve) => setTimeout(resolve, 500))
    api.nodes.readLog = readLog
    await has(stream, 'meanwhile\n')
  })

  it('ends with an event that says so when the instance is deleted', async () => {
    const stream = await follow()
    await stream.atLeast(1)
    await print('last words\n')
    await user.api.one('deleteInstances', { object: name })
    await until('the stream has ended', async () => stream.ended, { limitMs: 5_000 })
    assert.equal(textOf(stream), 'last words\n')
    const message = `instance '${name}' is deleted, and its log with it`
    assert.deepEqual(stream.seen.at(-1), { id: undefined, type: 'end', data: { uuid, name, message } })
  })

  it('ends when its token is revoked, without an event', async () => {
    const rights = { scopes: [TokenScope.Read], services: null }
    const made = await createToken(api.database, { userUuid: user.uuid, rights })
    const stream = await follow({ token: made.token })
    await stream.atLeast(1)
    await revokeToken(api.database, made.uuid)
    await until('the stream has ended', async () => stream.ended, { limitMs: 5_000 })
    assert.ok(stream.seen.every(({ type }) => type === 'log'))
  })

  it('follows what a limited token reaches, and nothing else', async () => {
    await user.api.one('createServices', { body: { name: 'shop' } })
    const body = { image: 'hello', service_group: { name: 'shop' } }
    const own = await user.api.one('createInstances', { body })
    const rights = { scopes: [TokenScope.Read], services: ['shop'] }
    const { token } = await createToken(api.database, { userUuid: user.uuid, rights })
    assert.equal((await (await follow({ token, of: own.uuid })).atLeast(1))[0]!.type, 'log')
    const strangers = [
      [token, uuid],
      [(await api.addUser()).token, uuid],
      [token, '11111111-1111-4111-8111-111111111111'],
    ]
    for (const [bearer, of] of strangers) {
      const answer = await api.send({ path: `/v1/instances/${of}/log?follow=true`, token: bearer! })
      assert.equal(answer.json.data.instances[0].error, 8, answer.text)
    }
  })

  it('is of one instance, and has no limit', async () => {
    for (const [query, message] of [
      [
        '?follow=true&name=a,b',
        /^'follow' needs exactly one instance and no 'limit': 2 instances are named$/,
      ],
      [`?follow=true&uuid=${uuid}&limit=5`, /: 'limit' is 5$/],
    ] as const) {
      const answer = await api.send({ path: `/v1/instances/log${query}`, token: user.token })
      assert.deepEqual([answer.status, answer.json.errors[0].error], [400, 7])
      assert.match(answer.json.message, message)
    }
    const plain = await user.api.one('getInstanceLogs', { object: name, query: { follow: 'false' } })
    assert.equal(plain.output, '')
    const named = await api.send({ path: `/v1/instances/log?follow=true&name=${name}`, token: user.token })
    assert.equal(named.headers['content-type'], 'text/event-stream; charset=utf-8')
  })

  it('changes nothing of an instance that sleeps', async () => {
    const shown = () =>
      readRows(api.database, { text: 'select * from instances where uuid = $1', values: [uuid] })
    await readRows(api.database, {
      text: "update instances set state = 'standby', boot = 1 where uuid = $1",
      values: [uuid],
    })
    const before = await shown()
    const calls = api.nodes.calls.length
    const stream = await follow()
    await stream.atLeast(1)
    await print('from a sleeper\n')
    await has(stream, 'from a sleeper\n')
    assert.deepEqual(await shown(), before)
    assert.deepEqual(api.nodes.calls.slice(calls), [])
  })
})
