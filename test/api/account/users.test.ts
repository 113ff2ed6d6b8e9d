import { strict as assert } from 'node:assert'
import { maxLabelLength } from '../../../src/domain/object-name.ts'
import { TokenScope } from '../../../src/domain/account/token-scope.ts'
import { createToken, revokeToken } from '../../../src/db/account/tokens.ts'
import { createApiClient } from '../../support/api-client.ts'
import type { ApiClient } from '../../support/api-client.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { hearNode } from '../../support/accounts.ts'
import { readRows } from '../../support/rows.ts'
import { settledEvents } from '../../support/settled-events.ts'

describe('accounts over the API of administrators', () => {
  let api: TestApi
  let admin: TestUser
  const opened: ApiClient[] = []
  before(async () => {
    api = await startTestApi()
    admin = await api.addUser({ name: 'root', admin: true })
  })
  after(async () => {
    await Promise.all(opened.map((client) => client.close()))
    await api.close()
  })

  const clientOf = (token: string): ApiClient => {
    const client = createApiClient({ url: api.url, token })
    opened.push(client)
    return client
  }
  const make = (body: object) => admin.api.one('createUsers', { body })
  const refused = async (body: object, { method = 'POST', path = '/v1/users', token = admin.token } = {}) => {
    const { status, json } = await api.send({ method, path, token, body })
    return [status, json.message]
  }

  describe('that are shown', () => {
    it('tell what each holds, in the same numbers as the account reads itself', async () => {
      const user = await api.addUser({ hard: { instances: 9 } })
      const other = await api.addUser()
      for (const [index, { api: own, uuid }] of [user, other].entries()) {
        await own.one('createInstances', {
          body: { image: 'hello', autostart: index === 0, memory_mb: 64, service_group: {} },
        })
        await own.one('createVolumes', { body: { size_mb: 8 + index } })
        await readRows(api.database, {
          text: 'update users set registry_bytes = $2 where uuid = $1',
          values: [uuid, 1_048_577 * (index + 1)],
        })
      }
      await hearNode(api.database, { imageBytes: { [user.uuid]: 5_000_000, [other.uuid]: 1 } })
      const all = await admin.api.call('getUsers')
      for (const each of [user, other]) {
        const { used, hard, limits } = await each.api.one('getQuotas')
        const shown = all.find(({ uuid }) => uuid === each.uuid)
        assert.deepEqual({ used, hard, limits }, pick(shown!, ['used', 'hard', 'limits']))
        assert.equal(shown!.status, undefined)
        assert.deepEqual([shown!.name, shown!.admin, shown!.tokens], [each.name, false, 1])
      }
      const { used } = all.find(({ uuid }) => uuid === user.uuid)!
      assert.partialDeepStrictEqual(used, {
        instances: 1,
        live_instances: 1,
        service_groups: 1,
        volumes: 1,
        registry_mb: 2,
        image_mb: 5,
      })
      assert.equal(all.find(({ name }) => name === 'root')!.admin, true)
    })

    it('count the tokens that are accepted, and say when one was last used', async () => {
      const { uuid, name } = await make({ name: 'keys' })
      const { database } = api
      const show = () => admin.api.one('getUsers', { object: name })
      assert.deepEqual(pick(await show(), ['tokens', 'last_used_at']), { tokens: 1 })
      await createToken(database, { userUuid: uuid, expiresAt: new Date(Date.now() - 1_000) })
      await createToken(database, { userUuid: uuid, expiresAt: new Date(Date.now() + 600_000) })
      const { uuid: revoked } = await createToken(database, { userUuid: uuid })
      await revokeToken(database, revoked)
      await readRows(api.database, {
        text: "update tokens set last_used_at = '2026-01-02T03:04:05Z' where uuid = $1",
        values: [revoked],
      })
      const { tokens, last_used_at } = await show()
      assert.deepEqual([tokens, last_used_at], [2, '2026-01-02T03:04:05Z'])
    })

    it('come in pages, the oldest first', async () => {
      const all = await admin.api.call('getUsers')
      assert.equal(all[0]!.name, 'root')
      const paged = []
      for (let from = ''; ; from = paged.at(-1)!.uuid) {
        const page = await admin.api.call('getUsers', { query: { count: '2', ...(from && { from }) } })
        paged.push(...page)
        if (page.length < 2) break
      }
      assert.deepEqual(paged, all)
      assert.deepEqual(
        await admin.api.call('getUsers', { query: { count: '2', from: '1' } }),
        all.slice(1, 3),
      )
      for (const from of ['11111111-1111-4111-8111-111111111111', 'nonsense']) {
        const { status, json } = await api.send({ path: `/v1/users?from=${from}`, token: admin.token })
        assert.equal(status, 400)
        assert.match(json.message, /^Invalid value of 'from' in the query: no user with uuid '.*': read the /)
      }
    })

    it('are found whatever they are called, where the path has a word of its own', async () => {
      for (const name of ['quotas', 'list']) {
        const made = await make({ name, hard: { instances: 7 } })
        const found = await admin.api.one('getUsers', { query: { name } })
        assert.deepEqual([found.uuid, found.hard.instances], [made.uuid, 7])
        assert.equal((await admin.api.one('getUsers', { object: made.uuid })).name, name)
        const body = { name, hard: { instances: 8 } }
        assert.equal((await admin.api.one('setUserQuotas', { body })).hard.instances, 8)
        const local = { object: made.uuid, body: { hard: { instances: 9 } } }
        assert.equal((await admin.api.one('setUserQuotas', local)).hard.instances, 9)
        // The word in the path stays what it was.
        const own = await api.send({ path: '/v1/users/quotas', token: made.token })
        assert.equal(own.json.data.quotas[0].uuid, made.uuid)
      }
      const admins = await api.send({ path: '/v1/users/quotas', token: admin.token })
      assert.deepEqual(
        admins.json.data.quotas.map(({ uuid }: { uuid: string }) => uuid),
        [admin.uuid],
      )
      assert.equal((await api.send({ path: '/v1/users/list', token: admin.token })).status, 404)
    })
  })

  describe('that are made', () => {
    it('have a token with all rights, which no other answer shows', async () => {
      const { token, ...made } = await make({
        name: 'Ann',
        hard: { instances: 3, image_mb: 100 },
        limits: { max_vcpus: 2 },
      })
      assert.deepEqual([made.name, made.admin, made.tokens], ['ann', false, 1])
      assert.partialDeepStrictEqual(made, { hard: { instances: 3, image_mb: 100, volumes: 253 } })
      assert.partialDeepStrictEqual(made, { limits: { min_vcpus: 1, max_vcpus: 2 } })
      const ann = clientOf(token)
      const [own] = await ann.call('listTokens')
      assert.deepEqual(
        [own!.label, own!.scopes, own!.developer, own!.expires_at],
        ['first', undefined, false, undefined],
      )
      await ann.one('createInstances', { body: { image: 'hello' } })
      const { text } = await api.send({ path: '/v1/users', token: admin.token })
      const secret = Buffer.from(token, 'base64').toString().split(':')[1]!
      assert.ok(text.includes(made.uuid) && !text.includes(token) && !text.includes(secret))
      assert.ok(api.logLines.every((line) => !line.includes(token) && !line.includes(secret)))
    })

    it('tell the new account who made it', async () => {
      const maker = await admin.api.one('createTokens', { body: { label: 'onboarding' } })
      const { token } = await clientOf(maker.token).one('createUsers', { body: { name: 'told' } })
      await settledEvents(api.database)
      const events = await clientOf(token).call('listEvents')
      const told = new Map(events.map(({ kind, by, why }) => [kind, [by.kind, by.name, why]]))
      assert.deepEqual(
        told,
        new Map([
          ['account.created', ['token', 'onboarding', 'an administrator created the account']],
          ['token.created', ['token', 'onboarding', 'it was asked for']],
        ]),
      )
    })

    it('are never administrators, and never those that exist', async () => {
      assert.deepEqual(await refused({ name: 'boss', admin: true }), [
        400,
        "Unknown parameter 'admin' in user creation arguments",
      ])
      await make({ name: 'once' })
      const { entries } = await admin.api.attempt('createUsers', {
        body: [{ name: 'ONCE' }, { name: 'twice' }],
      })
      assert.partialDeepStrictEqual(entries[0], {
        status: 'error',
        error: 23,
        message: "User with name 'once' already exists",
      })
      assert.ok(!JSON.stringify(entries[0]).includes('token'))
      assert.equal(entries[1]!.status, 'success')
      assert.equal((await admin.api.one('getUsers', { object: 'once' })).tokens, 1)
    })

    it('have a name that can be a namespace', async () => {
      for (const name of ['a.b', 'official', '-x', '1st', 'a:b']) {
        const [status, message] = await refused([{ name: 'fine' }, { name }])
        assert.equal(status, 400)
        assert.match(message, new RegExp(`^Invalid user name '${name}': expected letters, `))
      }
      const long = await refused({ name: 'x'.repeat(maxLabelLength + 1) })
      assert.deepEqual(long, [400, "Value of 'name' is too long: at most 63 characters"])
      const { entries } = await admin.api.attempt('getUsers', { object: 'fine' })
      assert.partialDeepStrictEqual(entries, [{ error: 8 }])
    })
  })

  describe('whose quotas are changed', () => {
    it('have the new bounds, keep the others, and learn who asked', async () => {
      const user = await api.addUser({ hard: { volumes: 5 } })
      await user.api.one('createInstances', { body: { image: 'hello' } })
      const changer = await admin.api.one('createTokens', { body: { label: 'capacity' } })
      const changed = await clientOf(changer.token).one('setUserQuotas', {
        object: user.name,
        body: { hard: { instances: 1 }, limits: { max_memory_mb: 256 } },
      })
      assert.equal(changed.status, 'success')
      const { used, hard, limits } = await user.api.one('getQuotas')
      assert.deepEqual(pick(changed, ['used', 'hard', 'limits']), { used, hard, limits })
      assert.partialDeepStrictEqual(hard, { instances: 1, volumes: 5 })
      assert.partialDeepStrictEqual(limits, { min_memory_mb: 16, max_memory_mb: 256 })
      const [more] = (await user.api.attempt('createInstances', { body: { image: 'hello' } })).entries
      assert.partialDeepStrictEqual(more, { error: 19 })
      await settledEvents(api.database)
      const event = (await user.api.call('listEvents')).find(({ kind }) => kind === 'account.quotas')
      assert.deepEqual([event?.by.kind, event?.by.name], ['token', 'capacity'])
      assert.equal(event?.why, 'an administrator changed instances, maxMemoryMb')
    })

    it('are refused bounds that mean nothing, and stay as they are', async () => {
      const { uuid } = await make({ name: 'bounded' })
      const path = '/v1/users/bounded/quotas'
      const change = (body: object) => refused(body, { method: 'PUT', path })
      for (const value of [0, 2_147_483_648]) {
        assert.deepEqual(await change({ hard: { instances: value } }), [
          400,
          "Value of 'instances' in hard quotas must be in the range 1 to 2147483647",
        ])
      }
      assert.deepEqual(await change({ limits: { most: 1 } }), [
        400,
        "Unknown parameter 'limits.most' in quota arguments",
      ])
      for (const body of [{}, { hard: {} }, { hard: null, limits: {} }]) {
        assert.deepEqual(await change(body), [
          400,
          'The body of the request is missing or names nothing, but quota arguments are required',
        ])
      }
      const crossed = { limits: { min_vcpus: 3, max_vcpus: 2 } }
      const entry = {
        error: 7,
        message: "'min_vcpus' 3 would be above 'max_vcpus' 2: lower the first, or raise the second",
      }
      const [wrong] = (await admin.api.attempt('setUserQuotas', { object: uuid, body: crossed })).entries
      assert.partialDeepStrictEqual(wrong, { uuid, name: 'bounded', ...entry })
      const made = await admin.api.attempt('createUsers', { body: { name: 'crossed', ...crossed } })
      assert.partialDeepStrictEqual(made.entries, [{ name: 'crossed', ...entry }])
      assert.partialDeepStrictEqual((await admin.api.one('getUsers', { object: uuid })).limits, {
        min_vcpus: 1,
        max_vcpus: 1,
      })
    })
  })

  describe('look to every other account', () => {
    it('as if there were none, not even itself', async () => {
      const [one, other] = [await api.addUser(), await api.addUser()]
      assert.deepEqual(await one.api.call('getUsers'), [])
      const before = (await other.api.one('getQuotas')).hard
      for (const named of [one.name, other.name, other.uuid, admin.name, 'nobody']) {
        const by = named === other.uuid ? 'uuid' : 'name'
        for (const [id, body] of [
          ['getUsers', {}],
          ['setUserQuotas', { hard: { instances: 1 } }],
        ] as const) {
          const { entries } = await one.api.attempt(id, { object: named, body })
          const path = id === 'getUsers' && by === 'name' ? `, and no API endpoint '/v1/users/${named}'` : ''
          assert.deepEqual(entries, [
            { status: 'error', [by]: named, error: 8, message: `No user with ${by} '${named}'${path}` },
          ])
        }
      }
      assert.deepEqual((await other.api.one('getQuotas')).hard, before)
    })

    it('as nothing that it can make', async () => {
      const user = await api.addUser()
      const sentence = 'This is about the whole installation: it needs a token of an administrator'
      for (const name of ['mine', admin.name]) {
        assert.deepEqual(await refused({ name }, { token: user.token }), [403, sentence])
      }
      const { entries } = await admin.api.attempt('getUsers', { object: 'mine' })
      assert.partialDeepStrictEqual(entries, [{ error: 8 }])
    })
  })

  it('are seen by a token of an administrator that reads, and changed by none with scopes', async () => {
    const scopes = [TokenScope.Operate, TokenScope.ImagesPush, TokenScope.Metrics]
    const token = await admin.api.one('createTokens', { body: { scopes } })
    assert.ok((await clientOf(token.token).call('getUsers')).some(({ name }) => name === 'root'))
    for (const call of [
      { body: { name: 'sneaked' } },
      { body: { name: admin.name, hard: { instances: 1 } }, method: 'PUT', path: '/v1/users/quotas' },
    ]) {
      const [status, message] = await refused(call.body, { token: token.token, ...call })
      assert.equal(status, 403)
      assert.match(message, /but this needs all rights/)
    }
  })
})

function pick<T extends object, K extends keyof T>(object: T, keys: readonly K[]): Partial<Pick<T, K>> {
  const found = keys.flatMap((key) => (object[key] === undefined ? [] : [[key, object[key]]]))
  return Object.fromEntries(found) as Partial<Pick<T, K>>
}
