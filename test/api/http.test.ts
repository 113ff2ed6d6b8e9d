import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { connect } from 'node:net'
import { maxBodyBytes, maxHeaderBytes } from '../../src/contract/limits.ts'
import { openDatabase } from '../../src/db/database.ts'
import { startTestApi } from '../support/api-server.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'

describe('HTTP', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
    user = await api.addUser()
  })
  after(() => api.close())

  /** Sends these bytes over a connection, and returns all that comes back until the server closes it. */
  async function exchange(text: string | Buffer): Promise<string> {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1')
    socket.write(text)
    let answer = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk))
    await once(socket, 'close')
    return answer
  }
  const assertEnvelope = (
    answer: { json: { status: string; errors: { status: number; error: number }[] } },
    status: number,
    code: number,
  ) => {
    assert.equal(answer.json.status, 'error')
    assert.deepEqual([answer.json.errors[0]?.status, answer.json.errors[0]?.error], [status, code])
  }

  it('answers 404 and code 3 where there is no endpoint', async () => {
    for (const path of [
      '/v1/services/autoscale/autoscale',
      '/v1/services/autoscale/autoscale/policies',
      '/v1/services/list/autoscale',
      '/v1/services/a/autoscale/policies/b/c',
      '/v1/volumes/a/b',
      '/v1/certificates/a/b',
      '/v1/nothing',
      '/v1',
      '/',
      '/v1/instances/a/b/c',
    ]) {
      const answer = await api.send({ path, token: user.token })
      assert.equal(answer.status, 404, path)
      assertEnvelope(answer, 404, 3)
    }
  })

  it('knows its paths in lower case only, with or without a final slash', async () => {
    for (const path of ['/V1/instances', '/v1/Instances', '//v1/instances', '/v1//instances', '/HEALTHZ']) {
      const answer = await api.send({ path: `${api.url}${path}`, token: user.token })
      assert.equal(answer.status, 404, path)
    }
    assert.equal((await api.send({ path: '/v1/instances/', token: user.token })).status, 200)
  })

  it('takes a path apart before it decodes it, and answers 400 to what can not be decoded', async () => {
    const status = async (path: string) => (await api.send({ path, token: user.token })).status
    assert.equal(await status('/v1/instances/a%2Fb'), 400)
    assert.equal(await status('/v1/instances/%zz'), 400)
    assert.equal(await status('/v1/instances/%6eobody'), 200)
    assert.equal(await status('/v1/instances?name=%zz'), 400)
  })

  it('tells nothing below /v1 to a client without a token, and answers 404 elsewhere', async () => {
    assert.equal((await api.send({ path: '/v1/nothing' })).status, 401)
    assert.equal((await api.send({ path: '/nothing' })).status, 404)
  })

  it('answers 405 to a method that an endpoint does not have, with those it has', async () => {
    const cases = [
      ['DELETE', '/v1/instances/list', 'GET, HEAD'],
      ['GET', '/v1/instances/start', 'PUT'],
      ['POST', '/v1/instances/some-name', 'DELETE, GET, HEAD, PATCH'],
      ['OPTIONS', '/v1/instances', 'DELETE, GET, HEAD, PATCH, POST'],
      ['POST', '/healthz', 'GET, HEAD'],
    ] as const
    for (const [method, path, allow] of cases) {
      const answer = await api.send({ method, path, token: user.token })
      assert.equal(answer.status, 405, `${method} ${path}`)
      assertEnvelope(answer, 405, 2)
      assert.equal(answer.headers['allow'], allow)
    }
  })

  it('takes a body with GET too, up to the limit', async () => {
    const fits = JSON.stringify({ name: 'nobody' }).padEnd(maxBodyBytes, ' ')
    assert.equal((await api.send({ path: '/v1/instances', token: user.token, body: fits })).status, 200)
    const over = await api.send({ path: '/v1/instances', token: user.token, body: `${fits} ` })
    assert.equal(over.status, 413)
    assertEnvelope(over, 413, 22)
  })

  it('stops reading a body without a length at the limit', async () => {
    const head = `POST /v1/instances HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.token}\r\nTransfer-Encoding: chunked\r\n\r\n`
    const chunk = `${(65_536).toString(16)}\r\n${' '.repeat(65_536)}\r\n`
    const answer = await exchange(head + chunk.repeat(17))
    assert.match(answer, /^HTTP\/1\.1 413 /)
  })

  it('ends every JSON answer with a line break, the refusals among them', async () => {
    for (const path of ['/v1/instances', '/v1/nothing', '/healthz']) {
      const answer = await fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${user.token}` } })
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/, path)
      assert.match(await answer.text(), /^\{.*\}\n$/, path)
    }
  })

  it('takes JSON with a content type of JSON, with that of curl and with none, and answers 415 to others and to encoded bodies', async () => {
    const send = (headers: Record<string, string>, body = '{"name":"nobody"}') =>
      api.send({ path: '/v1/instances', token: user.token, headers, body })
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'application/merge-patch+json',
      // What curl announces by itself.
      'application/x-www-form-urlencoded',
      '',
    ]) {
      assert.equal((await send({ 'content-type': type })).status, 200, type)
    }
    for (const type of ['text/plain', 'multipart/form-data; boundary=x']) {
      const answer = await send({ 'content-type': type })
      assert.equal(answer.status, 415, type)
      assertEnvelope(answer, 415, 16)
    }
    assert.equal((await send({ 'content-encoding': 'gzip' })).status, 415)
    assert.equal((await send({ 'content-type': 'text/plain' }, '')).status, 200)
  })

  it('answers 400 to bytes that are not UTF-8 and to JSON that is nested too deeply', async () => {
    const head = `POST /v1/instances HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${user.token}\r\n`
    const answer = await exchange(Buffer.from(`${head}Content-Length: 3\r\n\r\n"\u00ff"`, 'latin1'))
    assert.match(answer, /^HTTP\/1\.1 400 [\s\S]*not UTF-8/)
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    assert.equal((await api.send({ path: '/v1/instances', token: user.token, body: deep })).status, 400)
  })

  it('answers 431 to headers over the limit, in the envelope', async () => {
    const answer = await exchange(
      `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(maxHeaderBytes)}\r\n\r\n`,
    )
    assert.match(answer, /^HTTP\/1\.1 431 /)
    assert.deepEqual(JSON.parse(answer.slice(answer.indexOf('{'))), {
      status: 'error',
      message: 'The request headers are too large',
      errors: [{ status: 431, error: 22, message: 'The request headers are too large' }],
    })
  })

  it('answers 400 to what is not HTTP', async () => {
    assert.match(await exchange('hello\r\n\r\n'), /^HTTP\/1\.1 400 [\s\S]*"status":"error"/)
  })

  it('gives every answer a request id: that of the client, if it is well-formed', async () => {
    const own = await api.send({ path: '/healthz', headers: { 'x-request-id': 'my-id.1' } })
    assert.equal(own.headers['x-request-id'], 'my-id.1')
    for (const id of ['a b', 'x'.repeat(65), '{}']) {
      const answer = await api.send({ path: '/v1/instances', headers: { 'x-request-id': id } })
      assert.match(String(answer.headers['x-request-id']), /^[0-9a-f-]{36}$/)
    }
    await api.send({ path: '/v1/instances', token: user.token, headers: { 'x-request-id': 'find-me' } })
    const line = api.logLines.map((text) => JSON.parse(text)).find((each) => each.requestId === 'find-me')
    assert.partialDeepStrictEqual(line, { route: 'getInstances', status: 200, user: user.name })
  })

  it('has health, readiness, the document and metrics without a token', async () => {
    assert.equal((await api.send({ path: '/healthz' })).status, 200)
    assert.equal((await api.send({ path: '/readyz' })).status, 200)
    assert.equal((await api.send({ path: '/openapi.json' })).json.openapi, '3.1.0')
    await api.send({ path: '/v1/instances', token: user.token })
    const metrics = await api.send({ path: '/metrics' })
    assert.match(metrics.text, /^roost_api_requests_total\{route="getInstances",status="200"\} \d+$/m)
    assert.match(
      metrics.text,
      /^roost_api_request_duration_seconds_bucket\{le="0.01",route="getInstances"\} \d+$/m,
    )
  })

  it('answers HEAD as GET, without a body', async () => {
    const answer = await api.send({ method: 'HEAD', path: '/v1/instances', token: user.token })
    assert.deepEqual([answer.status, answer.text], [200, ''])
  })

  it('answers 500 with the request id, and logs the cause without showing it', async () => {
    api.images.fails = new Error('the inner secret')
    const answer = await api.send({ path: '/v1/images/list', token: user.token })
    delete api.images.fails
    assert.equal(answer.status, 500)
    assert.ok(!answer.text.includes('inner secret'))
    assert.ok(answer.json.errors[0].message.includes(answer.headers['x-request-id']))
    assert.ok(api.logLines.some((line) => line.includes('the inner secret')))
  })
})

describe('HTTP without a database', () => {
  it('answers 503 and is not ready, but is healthy', async () => {
    const api = await startTestApi()
    const { token } = await api.addUser()
    const { db, check } = api.database
    const isAway = () => Promise.reject(new Error('the connection is gone'))
    // No server listens at this address.
    const away = await openDatabase({ url: 'postgresql://127.0.0.1:1/none', applicationName: 'away' })
    Object.assign(api.database, { db: away.db, check: isAway })
    for (const [path, status] of [
      ['/v1/instances', 503],
      ['/readyz', 503],
      ['/healthz', 200],
    ] as const) {
      assert.equal((await api.send({ path, token })).status, status, path)
    }
    Object.assign(api.database, { db, check })
    await away.close()
    assert.equal((await api.send({ path: '/v1/instances', token })).status, 200)
    await api.close()
  })
})

describe('HTTP under pressure', () => {
  let api: TestApi
  let user: TestUser
  let nowMs = 1_000_000
  before(async () => {
    api = await startTestApi({
      nowMs: () => nowMs,
      settings: { rate: { perSecond: 1, burst: 3 }, changesPerMinute: 60, handlingTimeoutMs: 2_000 },
    })
  })
  after(() => api.close())
  beforeEach(async () => {
    user = await api.addUser()
  })

  it('answers 429 with Retry-After to a token that asks too often, and to no other', async () => {
    const ask = (token: string) => api.send({ path: '/v1/users/quotas', token })
    for (let n = 0; n < 3; n++) assert.equal((await ask(user.token)).status, 200)
    const refused = await ask(user.token)
    assert.equal(refused.status, 429)
    assert.equal(refused.headers['retry-after'], '1')
    assert.equal(refused.json.errors[0].error, 5)
    const other = await api.addUser()
    assert.equal((await ask(other.token)).status, 200)
    nowMs += 1_000
    assert.equal((await ask(user.token)).status, 200)
    assert.equal((await ask(user.token)).status, 429)
  })

  it('answers 429 to an account that makes and changes too much at a time, and lets it read and delete', async () => {
    const ask = async (sent: object) => {
      nowMs += 1_000
      return await api.send({ path: '/v1/instances', token: user.token, ...sent })
    }
    const body = (replicas: number) => ({ image: 'hello', name: 'a', replicas })
    // These two change 300 objects, although 128 are permitted at once. A request is accepted whole while
    // anything is left; the requests after it have to wait longer.
    assert.equal((await ask({ method: 'POST', body: body(99) })).status, 200)
    assert.equal((await ask({ method: 'POST', body: [body(99), body(99)] })).status, 200)
    const refused = await ask({ method: 'PUT', path: '/v1/instances/start', body: [{ name: 'a' }] })
    assert.equal(refused.status, 429)
    assert.equal(refused.headers['retry-after'], '171')
    assert.match(refused.json.errors[0].message, /60 objects per minute in the long run, 128 at once/)
    assert.equal((await ask({})).status, 200)
    assert.equal((await ask({ method: 'DELETE', body: [{ name: 'a' }] })).status, 200)
    nowMs += 168_000
    assert.equal((await ask({ method: 'POST', body: body(0) })).status, 200)
    const other = await api.addUser()
    assert.equal((await ask({ method: 'POST', body: body(0), token: other.token })).status, 200)
  })

  it('answers 503 to a request that takes too long', async () => {
    await user.api.one('createInstances', { body: { image: 'hello', name: 'a' } })
    api.nodes.readUsage = () => new Promise(() => {})
    const answer = await api.send({ path: '/v1/instances?metrics=true', token: user.token })
    assert.equal(answer.status, 503)
    assert.equal(answer.json.errors[0].error, 12)
  })

  it('ends waits when the process stops', async () => {
    await user.api.one('createInstances', { body: { image: 'hello', name: 'a' } })
    const waiting = api.send({ path: '/v1/instances/a/wait', token: user.token })
    // The wait was sent before this request. Once this one is answered, the wait is under way.
    await api.send({ path: '/v1/instances/a', token: user.token })
    api.stopping.abort()
    assert.equal((await waiting).status, 503)
    assert.equal((await api.send({ path: '/readyz' })).status, 503)
    assert.equal((await api.send({ path: '/healthz' })).status, 200)
  })
})
