import assert from 'node:assert/strict'
import { signInsAtOnce } from '../../../src/contract/limits.ts'
import { createToken, revokeToken } from '../../../src/db/account/tokens.ts'
import { maxSessionsPerToken, sessionIdleMs, sessionLimitMs } from '../../../src/db/account/sessions.ts'
import { TokenScope } from '../../../src/domain/account/token-scope.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { RawAnswer, TestApi, TestUser } from '../../support/api-server.ts'
import { readRows } from '../../support/rows.ts'
import { until } from '../../support/until.ts'

const own = { 'sec-fetch-site': 'same-origin' }
const path = '/console/session'

describe('a session of the console', () => {
  let api: TestApi
  let user: TestUser
  let nowMs: number
  before(async () => {
    api = await startTestApi({ nowMs: () => nowMs })
  })
  beforeEach(async () => {
    nowMs = Date.now()
    user = await api.addUser()
  })
  after(() => api?.close())

  let addresses = 0
  function signIn(token: string, headers: Readonly<Record<string, string>> = own): Promise<RawAnswer> {
    const address = `192.0.2.${addresses++}`
    return api.send({
      method: 'POST',
      path,
      body: { token },
      headers: { 'x-forwarded-for': address, ...headers },
    })
  }
  function cookieOf({ headers }: RawAnswer): string {
    return [headers['set-cookie']].flat()[0]?.split(';')[0] ?? ''
  }
  async function open(token = user.token): Promise<string> {
    const answer = await signIn(token)
    assert.equal(answer.status, 200, answer.text)
    return cookieOf(answer)
  }
  function get(cookie: string, headers: Readonly<Record<string, string>> = own, at = '/v1/instances/list') {
    return api.send({ path: at, headers: { cookie, ...headers } })
  }

  it('begins with a token and says who is signed in', async () => {
    const answer = await signIn(user.token)
    assert.equal(answer.json.user, user.name)
    assert.equal(answer.json.scopes, null)
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.match(
      String(answer.headers['set-cookie']),
      /^roost-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    )
  })

  it('has a cookie over TLS that no other host can set and no plain connection carries', async () => {
    const secure = { ...own, 'x-forwarded-proto': 'https', 'x-forwarded-host': 'console.metro.test' }
    const answer = await signIn(user.token, secure)
    assert.match(
      String(answer.headers['set-cookie']),
      /^__Host-roost-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    )
    assert.equal((await get(cookieOf(answer), secure)).status, 200)
    assert.equal((await get(cookieOf(answer))).status, 401)
  })

  it('keeps only a hash of its secret', async () => {
    const [, secret = ''] = (await open()).split('=')
    const rows = await readRows(api.database, { text: 'select * from console_sessions' })
    assert.ok(rows.length > 0)
    assert.ok(!JSON.stringify(rows).includes(secret))
    assert.ok(api.logLines.every((line) => !line.includes(secret) && !line.includes(user.token)))
  })

  it('has exactly the rights of its token', async () => {
    const rights = { scopes: [TokenScope.Read], services: null }
    const { token } = await createToken(api.database, { userUuid: user.uuid, rights })
    const cookie = await open(token)
    assert.equal((await get(cookie)).status, 200)
    const stop = { method: 'PUT', path: '/v1/instances/stop', body: { name: 'web' } }
    const refused = await api.send({ ...stop, headers: { cookie, ...own } })
    assert.equal(refused.status, 403)
    assert.match(refused.json.message, /needs the scope 'operate'/)
  })

  it('is refused to a token that can read nothing', async () => {
    const rights = { scopes: [TokenScope.Metrics], services: null }
    const { token } = await createToken(api.database, { userUuid: user.uuid, rights })
    assert.equal((await signIn(token)).status, 403)
  })

  for (const [from, headers] of [
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ["a service's page below the same domain", { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['a page of another origin', { origin: 'http://evil.test' }],
    ['nobody knows where', {}],
  ] as const) {
    it(`serves no request from ${from}`, async () => {
      const cookie = await open()
      const refused = await get(cookie, headers)
      assert.equal(refused.status, 403)
      assert.match(refused.json.message, /only accepted from the console's own pages/)
      assert.equal((await signIn(user.token, headers)).status, 403)
      assert.equal((await api.send({ method: 'DELETE', path, headers: { cookie, ...headers } })).status, 403)
      assert.equal((await get(cookie)).status, 200)
    })
  }

  it('serves a browser that names only its own origin', async () => {
    const cookie = await open()
    assert.equal((await get(cookie, { origin: api.url })).status, 200)
  })

  it('does not count if the request has a token of its own', async () => {
    const cookie = await open()
    const other = await api.addUser()
    const answer = await api.send({ path, headers: { cookie, ...own } })
    assert.equal(answer.json.user, user.name)
    await other.api.one('createVolumes', { body: { name: 'theirs', size_mb: 16 } })
    const listed = await api.send({ path: '/v1/volumes/list', token: other.token, headers: { cookie } })
    assert.equal(listed.json.data.volumes[0].name, 'theirs')
    const broken = await api.send({
      path: '/v1/volumes/list',
      headers: { cookie, ...own, authorization: 'Basic x' },
    })
    assert.equal(broken.status, 401)
  })

  it('ends when a person signs out', async () => {
    const cookie = await open()
    const answer = await api.send({ method: 'DELETE', path, headers: { cookie, ...own } })
    assert.equal(answer.status, 204)
    assert.match(String(answer.headers['set-cookie']), /^roost-console=; .*Max-Age=0$/)
    assert.equal((await get(cookie)).status, 401)
  })

  it('ends within a second after its token was revoked', async () => {
    const { uuid, token } = await createToken(api.database, { userUuid: user.uuid })
    const cookie = await open(token)
    assert.equal((await get(cookie)).status, 200)
    await revokeToken(api.database, uuid)
    nowMs += 1_000
    const refused = await get(cookie)
    assert.equal(refused.status, 401)
    assert.match(refused.json.message, /session in the console has ended: sign in again/)
  })

  it('ends when its token expires', async () => {
    const expiresAt = new Date(nowMs + 60_000)
    const { token } = await createToken(api.database, { userUuid: user.uuid, expiresAt })
    const answer = await signIn(token)
    assert.equal(Date.parse(answer.json.ends_at), Math.floor(expiresAt.getTime() / 1_000) * 1_000)
    nowMs += 60_000
    assert.equal((await get(cookieOf(answer))).status, 401)
  })

  it('ends without a person who uses it, whatever the page asks by itself', async () => {
    const cookie = await open()
    nowMs += sessionIdleMs - 1_000
    assert.equal((await get(cookie)).status, 200)
    nowMs += 1_000
    assert.equal((await get(cookie)).status, 401)
  })

  it('goes on while a person uses it, and ends after half a day all the same', async () => {
    const cookie = await open()
    for (let spentMs = 0; spentMs < sessionLimitMs - sessionIdleMs; spentMs += sessionIdleMs - 1_000) {
      nowMs += sessionIdleMs - 1_000
      assert.equal((await get(cookie, own, path)).status, 200)
    }
    nowMs += sessionIdleMs
    assert.equal((await get(cookie, own, path)).status, 401)
  })

  it('takes the place of the one that was unused for longest if its token has many', async () => {
    const first = await open()
    for (let count = 0; count < maxSessionsPerToken; count++) {
      nowMs += 1_000
      await open()
    }
    assert.equal((await get(first)).status, 401)
  })

  it('ends the stream of events with it', async () => {
    const cookie = await open()
    const response = await fetch(`${api.url}/v1/events/stream`, { headers: { cookie, ...own } })
    assert.equal(response.status, 200)
    await api.send({ method: 'DELETE', path, headers: { cookie, ...own } })
    await user.api.one('createVolumes', { body: { name: 'news', size_mb: 16 } })
    const text = await Promise.race([
      response.text(),
      new Promise<string>((_, reject) => setTimeout(() => reject(new Error('the stream goes on')), 5_000)),
    ])
    assert.doesNotMatch(text, /news/)
  })

  it('is refused with the reason to a wrong, a revoked and an expired token', async () => {
    assert.match((await signIn('bm9ib2R5OnNlY3JldA==')).json.message, /not known here, or it was revoked/)
    assert.match((await signIn('')).json.message, /Missing 'token' in the body/)
    const { token } = await createToken(api.database, {
      userUuid: user.uuid,
      expiresAt: new Date(nowMs + 1_000),
    })
    nowMs = Date.now() + 2_000
    await until('it expired', async () => (await signIn(token)).status === 401, { limitMs: 5_000 })
    assert.match((await signIn(token)).json.message, /expired at/)
  })

  it('is asked for a few times a minute from one address at most', async () => {
    const from = { ...own, 'x-forwarded-for': '198.51.100.7' }
    for (let count = 0; count < signInsAtOnce; count++)
      assert.equal((await signIn('wrong', from)).status, 401)
    const refused = await signIn(user.token, from)
    assert.equal(refused.status, 429)
    assert.ok(Number(refused.headers['retry-after']) > 0)
    assert.equal((await signIn(user.token)).status, 200)
    nowMs += 10_000
    assert.equal((await signIn(user.token, from)).status, 200)
  })
})
