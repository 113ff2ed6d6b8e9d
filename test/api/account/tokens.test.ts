import { strict as assert } from 'node:assert'
import { maxTokens } from '../../../src/contract/limits.ts'
import { createToken } from '../../../src/db/account/tokens.ts'
import { TokenScope } from '../../../src/domain/account/token-scope.ts'
import { createApiClient } from '../../support/api-client.ts'
import type { Entry } from '../../support/api-client.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { until } from '../../support/until.ts'

describe('tokens over the API', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    user = await api.addUser()
  })

  const create = (body: object = {}) => user.api.one('createTokens', { body })
  const refused = async (body: object, token = user.token) => {
    const { status, json } = await api.send({ method: 'POST', path: '/v1/tokens', token, body })
    return [status, json.message]
  }
  const statusFor = async (token: string, path = '/v1/instances') => (await api.send({ path, token })).status

  it('are made with everything that was asked for, and work', async () => {
    await user.api.one('createServices', { body: { name: 'shop' } })
    const wanted = { label: 'scraper', scopes: [TokenScope.Metrics], services: ['Shop'], lifetime_s: 3_600 }
    const { token, created_at, expires_at, uuid, ...made } = await create(wanted)
    assert.deepEqual(made, {
      status: 'success',
      label: 'scraper',
      scopes: ['metrics'],
      services: ['shop'],
      developer: false,
    })
    const lifetimeMs = Date.parse(expires_at!) - Date.parse(created_at)
    assert.ok(Math.abs(lifetimeMs - 3_600_000) <= 2_000, String(lifetimeMs))
    assert.equal(await statusFor(token, '/v1/instances/metrics'), 200)
    assert.equal(await statusFor(token), 403)
    const [shown] = await user.api.call('getTokens', { body: { uuid } })
    assert.match(shown!.last_used_at!, /^\d{4}-/)
  })

  it('have all rights for ever if nothing is asked for', async () => {
    const { token, ...made } = await create()
    assert.deepEqual(Object.keys(made).toSorted(), ['created_at', 'developer', 'label', 'status', 'uuid'])
    assert.equal(await statusFor(token, '/v1/tokens'), 200)
  })

  it('are shown without their secret, in the order of their making', async () => {
    const made = await create({ label: 'a' })
    const other = await create({ label: 'b', scopes: [TokenScope.Read, TokenScope.Read] })
    const secret = Buffer.from(made.token, 'base64').toString().split(':')[1]!
    for (const path of ['/v1/tokens', '/v1/tokens/list', `/v1/tokens/${made.uuid}`]) {
      const { text } = await api.send({ path, token: user.token })
      assert.ok(text.includes(made.uuid))
      assert.ok(!text.includes(made.token) && !text.includes(secret))
    }
    const listed = await user.api.call('listTokens')
    assert.deepEqual(
      listed.map(({ label }) => label),
      ['', 'a', 'b'],
    )
    assert.deepEqual(listed, await user.api.call('getTokens'))
    assert.deepEqual(listed[2]!.scopes, ['read'])
    assert.deepEqual(await user.api.one('getTokens', { object: other.uuid }), {
      status: 'success',
      ...listed[2],
    })
  })

  it('are of no use once they are revoked, and are gone from every list', async () => {
    const { uuid, token } = await create({ label: 'lost' })
    assert.equal(await statusFor(token), 200)
    const deleted = await user.api.one('deleteTokens', { object: uuid })
    assert.deepEqual(deleted, { status: 'success', uuid, label: 'lost' })
    await until('the token is refused', async () => (await statusFor(token)) === 401, { limitMs: 5_000 })
    assert.ok((await user.api.call('listTokens')).every((one) => one.uuid !== uuid))
    const [again] = (await user.api.attempt('deleteTokens', { body: { uuid } })).entries
    assert.partialDeepStrictEqual(again, { error: 8, message: `No token with uuid '${uuid}'` })
  })

  it('have no name in the path', async () => {
    const { status, json } = await api.send({ path: '/v1/tokens/laptop', token: user.token })
    assert.deepEqual([status, json.message], [400, "Invalid UUID 'laptop'"])
  })

  it('of another account can be neither seen nor revoked', async () => {
    const { uuid, token } = await create({ label: 'theirs' })
    const bob = await api.addUser()
    const [entry] = (await bob.api.attempt('deleteTokens', { body: { uuid } })).entries
    assert.partialDeepStrictEqual(entry, { error: 8 })
    assert.equal((await bob.api.call('listTokens')).length, 1)
    assert.equal(await statusFor(token), 200)
  })

  it('that have expired are refused with their date, and others without', async () => {
    const expiresAt = new Date(Date.now() - 1_000)
    const { token } = await createToken(api.database, { userUuid: user.uuid, expiresAt })
    const answer = await api.send({ path: '/v1/instances', token })
    assert.equal(answer.status, 401)
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
    const at = `${expiresAt.toISOString().slice(0, 19)}Z`
    assert.equal(
      answer.json.message,
      `This API token expired at ${at}; ask the owner of the account for a new one`,
    )
    const expired = (await user.api.call('listTokens')).find(({ expires_at }) => expires_at === at)
    assert.ok(expired)
    const unknown = Buffer.from(`${user.name}:${'x'.repeat(59)}`).toString('base64')
    const { json } = await api.send({ path: '/v1/instances', token: unknown })
    assert.match(json.message, /^Missing or invalid API token/)
  })

  const contradictions: readonly [body: object, message: string][] = [
    [{ services: ['shop'] }, "'services' in token creation arguments is only valid together with 'scopes'"],
    [
      { services: ['shop'], scopes: ['read', 'images:push'] },
      "'services' and 'images:push' of 'scopes' cannot be given together in token creation arguments",
    ],
    [
      { scopes: ['everything'] },
      "'everything' is not a valid flag for 'scopes'; valid: read, operate, images:push, metrics",
    ],
    [{ scopes: [] }, "Value of 'scopes' is too short: at least 1 elements"],
    [{ services: [], scopes: ['read'] }, "Value of 'services' is too short: at least 1 elements"],
    [{ lifetime_s: 0 }, "Value of 'lifetime_s' must be in the range 1 to 315360000"],
  ]
  for (const [body, message] of contradictions) {
    it(`are not made of ${JSON.stringify(body)}`, async () => {
      await user.api.one('createServices', { body: { name: 'shop' } })
      assert.deepEqual(await refused([{}, body] as object), [400, message])
      assert.equal((await user.api.call('listTokens')).length, 1)
    })
  }

  it('are not limited to a service that does not exist', async () => {
    const body = { scopes: [TokenScope.Read], services: ['nowhere'] }
    const [entry] = (await user.api.attempt('createTokens', { body })).entries
    assert.deepEqual(entry, {
      status: 'error',
      error: 8,
      message: "No service group with name 'nowhere'",
    })
  })

  it('are made for developers by developers alone', async () => {
    const [status, message] = await refused({ developer: true })
    assert.deepEqual(
      [status, message],
      [403, "Only a token of a developer can make another one: leave out 'developer'"],
    )
    const developer = await api.addUser({ developer: true })
    const made = await developer.api.one('createTokens', { body: { developer: true } })
    assert.equal(made.developer, true)
    assert.equal((await developer.api.one('createTokens', { body: {} })).developer, false)
  })

  it('do not outlive the token that makes them', async () => {
    const expiresAt = new Date(Date.now() + 600_000)
    const { token } = await createToken(api.database, { userUuid: user.uuid, expiresAt })
    const maker = createApiClient({ url: api.url, token })
    try {
      const expiryOf = async (body: object) => {
        const made: Entry<'createTokens'> = await maker.one('createTokens', { body })
        return Date.parse(made.expires_at!)
      }
      const latest = Math.floor(expiresAt.getTime() / 1_000) * 1_000
      assert.equal(await expiryOf({}), latest)
      assert.equal(await expiryOf({ lifetime_s: 6_000 }), latest)
      assert.ok((await expiryOf({ lifetime_s: 60 })) < latest)
    } finally {
      await maker.close()
    }
  })

  it('are bounded for each account, until some are revoked', async () => {
    const bodies = Array.from({ length: maxTokens - 1 }, () => ({}))
    const made = await user.api.call('createTokens', { body: bodies })
    const [refusedEntry] = (await user.api.attempt('createTokens', { body: {} })).entries
    assert.partialDeepStrictEqual(refusedEntry, {
      error: 5,
      message: `Too many tokens: at most ${maxTokens} per account; delete one that is not used any more`,
    })
    await user.api.one('deleteTokens', { object: made[0]!.uuid })
    await create()
  })
})
