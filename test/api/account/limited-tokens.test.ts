import { strict as assert } from 'node:assert'
import { DataKey, Scope, identifiersOf } from '../../../src/contract/operation.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { operations } from '../../../src/contract/operations.ts'
import { namesObjects } from '../../../src/contract/request/body.ts'
import { createToken } from '../../../src/db/account/tokens.ts'
import { TokenScope } from '../../../src/domain/account/token-scope.ts'
import { createApiClient } from '../../support/api-client.ts'
import type { ApiClient } from '../../support/api-client.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { RawAnswer, TestApi, TestUser } from '../../support/api-server.ts'
import { leastBody, nobody } from '../../support/least-request.ts'
import { readRows } from '../../support/rows.ts'

const table = Object.values(operations) as readonly Operation[]

/** The operations that are about the whole account, written by hand. */
const ofAccount = new Set([
  'moveInstances',
  'createServices',
  'createCertificates',
  'getCertificates',
  'updateCertificates',
  'deleteCertificates',
  'listCertificates',
  'explainCertificates',
  'createVolumes',
  'getVolumes',
  'deleteVolumes',
  'attachVolumes',
  'detachVolumes',
  'listVolumes',
  'explainVolumes',
  'createSchedules',
  'getSchedules',
  'updateSchedules',
  'deleteSchedules',
  'listSchedules',
  'triggerSchedules',
  'getScheduleRuns',
  'explainSchedules',
  'listImages',
  'getImages',
  'getQuotas',
  'getUsers',
  'createUsers',
  'setUserQuotas',
  'createTokens',
  'getTokens',
  'deleteTokens',
  'listTokens',
  'getHosts',
  'explainHosts',
  'getBalance',
  'cordonHosts',
  'uncordonHosts',
  'drainHosts',
  'labelHosts',
  'getHostInvitations',
  'deleteHostInvitations',
  'deleteHosts',
])

/** An object. Its name is no part of the name of any other, so that answers can be searched for it. */
interface Made {
  readonly uuid: string
  readonly name: string
}

describe('a token that is limited to a service', () => {
  let api: TestApi
  let user: TestUser
  let token: string
  let limited: ApiClient
  /** What belongs to the token's service: the service, its instances. */
  let own: { service: Made; master: Made; plain: Made }
  /** What belongs to another service of the same user, and an instance without a service. */
  let other: { service: Made; master: Made; lone: Made }
  before(async () => {
    api = await startTestApi()
    user = await api.addUser()
    own = {
      service: await makeService('shop'),
      master: await makeInstance('till', { service_group: { name: 'shop' } }),
      plain: await makeInstance('shelf', { service_group: { name: 'shop' } }),
    }
    other = {
      service: await makeService('blog'),
      master: await makeInstance('press', { service_group: { name: 'blog' } }),
      lone: await makeInstance('lone'),
    }
    await user.api.one('createVolumes', { body: { name: 'data', size_mb: 8 } })
    await configure('shop', own.master)
    await configure('blog', other.master)
    const scopes = [TokenScope.Operate, TokenScope.Metrics]
    const rights = { scopes, services: ['shop'] }
    token = (await createToken(api.database, { userUuid: user.uuid, rights })).token
    limited = createApiClient({ url: api.url, token })
  })
  after(async () => {
    await limited.close()
    await api.close()
  })

  async function makeService(name: string): Promise<Made> {
    const body = { name, services: [{ port: 443 }] }
    const { uuid } = await user.api.one('createServices', { body })
    return { uuid, name }
  }
  async function makeInstance(name: string, more: object = {}): Promise<Made> {
    const { uuid } = await user.api.one('createInstances', { body: { image: 'hello', name, ...more } })
    return { uuid, name }
  }
  const policy = { name: 'grow', type: 'step', steps: [{ lower_bound: 500, adjustment: 1 }] }
  async function configure(service: string, master: Made): Promise<void> {
    const body = { master: { uuid: master.uuid }, policies: [policy] }
    await user.api.one('createAutoscale', { object: service, body })
  }

  const send = (
    operation: Operation,
    { path = operation.path, body }: { readonly path?: string; readonly body?: object } = {},
  ): Promise<RawAnswer> =>
    api.send({
      method: operation.method,
      path,
      token,
      headers: { accept: 'application/json' },
      ...(body === undefined ? {} : { body }),
    })

  /** The answer with the identifiers of `from` in place of those of `to`. */
  const renamed = ({ status, text }: RawAnswer, from: Made, to: Made) => ({
    status,
    text: text.replaceAll(to.uuid, from.uuid).replaceAll(to.name, from.name),
  })
  const plainly = ({ status, text }: RawAnswer) => ({ status, text })

  /** Everything that the database holds of objects that are out of the token's reach. */
  const outOfReach = () =>
    readRows(api.database, {
      text: `select (select json_agg(s order by s.uuid) from services s where name = 'blog') as services,
        (select json_agg(i order by i.uuid) from instances i where name in ('press', 'lone')) as instances,
        (select json_agg(c) from autoscale_configurations c where master_uuid = $1) as configurations,
        (select json_agg(v) from volumes v) as volumes`,
      values: [other.master.uuid],
    })

  /** The objects of another service that an operation could be about. */
  const strangersOf = (operation: Operation): readonly Made[] =>
    operation.dataKey === DataKey.ServiceGroups ? [other.service] : [other.master, other.lone]

  for (const operation of table) {
    if (ofAccount.has(operation.id)) {
      it(`is refused by ${operation.id}, which is about the whole account`, async () => {
        const by = identifiersOf(operation).includes('name') ? 'name' : 'uuid'
        const named = namesObjects(operation) ? { [by]: nobody[by] } : {}
        const answer = await send(operation, { body: { ...leastBody(operation), ...named } })
        const needsAllRights = operation.tokenScopes.length === 0
        assert.equal(answer.status, 403, answer.text)
        assert.match(
          answer.json.message,
          needsAllRights
            ? /needs all rights/
            : /^This token is limited to the service group 'shop', but this is about the whole account; /,
        )
      })
      continue
    }

    if (operation.path.includes('{owner}')) {
      it(`has no policies of another service by ${operation.id}`, async () => {
        const before = await outOfReach()
        const body = operation.method === 'GET' ? {} : { ...leastBody(operation), name: 'grow' }
        for (const path of [operation.path, operation.localPath]) {
          if (path === undefined) continue
          for (const key of ['uuid', 'name'] as const) {
            const ask = (service: Made): Promise<RawAnswer> =>
              send(operation, {
                path: path.replace('{owner}', service[key]).replace('{object}', 'grow'),
                body: path.endsWith('{object}') ? {} : body,
              })
            const answer = await ask(other.service)
            assert.equal(answer.status, 404, answer.text)
            assert.deepEqual(plainly(answer), renamed(await ask(nobody), other.service, nobody))
          }
        }
        assert.deepEqual(await outOfReach(), before)
      })
      continue
    }

    if (namesObjects(operation)) {
      it(`finds nothing of another service by ${operation.id}`, async () => {
        const before = await outOfReach()
        for (const stranger of strangersOf(operation)) {
          const ask = (made: Made, key: 'uuid' | 'name') =>
            send(operation, { body: { ...leastBody(operation), [key]: made[key] } })
          const askLocally = (made: Made, key: 'uuid' | 'name') =>
            send(operation, {
              path: operation.localPath!.replace('{object}', made[key]),
              body: leastBody(operation),
            })
          for (const key of ['uuid', 'name'] as const) {
            for (const asked of [ask, askLocally]) {
              const answer = await asked(stranger, key)
              assert.equal(answer.json.data[operation.dataKey][0].error, 8, answer.text)
              assert.deepEqual(plainly(answer), renamed(await asked(nobody, key), stranger, nobody))
            }
          }
        }
        assert.deepEqual(await outOfReach(), before)
      })
    }

    if (operation.scope === Scope.ObjectsOrAll || operation.scope === Scope.Collection) {
      it(`sees by ${operation.id} everything of its own service, and nothing else`, async () => {
        const answer = await send(operation)
        const isOfServices = operation.dataKey === DataKey.ServiceGroups
        const names = answer.json.data[operation.dataKey].map(({ name }: Made) => name)
        assert.deepEqual(names, isOfServices ? ['shop'] : ['till', 'shelf'])
        for (const { uuid, name } of Object.values(other)) {
          assert.ok(!answer.text.includes(uuid) && !answer.text.includes(`"${name}"`), answer.text)
        }
      })
    }

    if (operation.paged) {
      it(`pages through ${operation.id} from its own objects alone`, async () => {
        const [stranger] = strangersOf(operation)
        const from = (made: Made) => send(operation, { path: `${operation.path}?from=${made.uuid}` })
        const answer = await from(stranger!)
        assert.equal(answer.status, 400)
        assert.deepEqual(plainly(answer), renamed(await from(nobody), stranger!, nobody))
        const isOfServices = operation.dataKey === DataKey.ServiceGroups
        const next = await from(isOfServices ? own.service : own.master)
        const names = next.json.data[operation.dataKey].map(({ name }: Made) => name)
        assert.deepEqual(names, isOfServices ? [] : ['shelf'])
      })
    }
  }

  it('sees no metrics of other instances as text either', async () => {
    const { text } = await api.send({ path: '/v1/instances/metrics', token })
    assert.ok(text.includes(own.master.uuid) && !text.includes(other.master.uuid))
  })

  it('lists by state only instances of its service', async () => {
    const stopped = await limited.call('listInstances', { query: { state: 'stopped' } })
    assert.deepEqual(
      stopped.map(({ name }) => name),
      ['till', 'shelf'],
    )
  })

  it('creates instances in its service, and in no other', async () => {
    const before = await outOfReach()
    for (const key of ['uuid', 'name'] as const) {
      const create = (service: Made) =>
        send(operations.createInstances, {
          body: { image: 'hello', name: 'mine', service_group: { [key]: service[key] } },
        })
      const answer = await create(other.service)
      assert.equal(answer.json.data.instances[0].error, 8, answer.text)
      assert.deepEqual(plainly(answer), renamed(await create(nobody), other.service, nobody))
    }
    assert.deepEqual(await outOfReach(), before)
    const made = await limited.one('createInstances', {
      body: { image: 'hello', name: 'mine', service_group: { name: 'shop' } },
    })
    assert.equal(made.service_group?.uuid, own.service.uuid)
    assert.equal((await limited.one('deleteInstances', { object: 'mine' })).name, 'mine')
  })

  const beyond: readonly [what: string, body: object, sentence: RegExp][] = [
    ['without a service', {}, /name one of them in 'service_group' of every new instance$/],
    ['with a new service', { service_group: { services: [{ port: 8443 }] } }, /name one of them/],
    ['with a new service that only has a name of a domain', { service_group: {} }, /name one of them/],
    [
      'with a volume of the account',
      { service_group: { name: 'shop' }, volumes: [{ name: 'data', at: '/data' }] },
      /volumes belong to the whole account: leave out 'volumes'$/,
    ],
    [
      'with a new volume',
      { service_group: { name: 'shop' }, volumes: [{ size_mb: 8, at: '/data' }] },
      /leave out 'volumes'$/,
    ],
  ]
  for (const [what, body, sentence] of beyond) {
    it(`creates no instance ${what}, nor any other of the same request`, async () => {
      const count = async () => (await user.api.call('listInstances')).length
      const before = await count()
      const fine = { image: 'hello', service_group: { name: 'shop' } }
      const answer = await send(operations.createInstances, { body: [fine, { image: 'hello', ...body }] })
      assert.equal(answer.status, 403, answer.text)
      assert.match(answer.json.message, sentence)
      assert.equal(await count(), before)
    })
  }

  it('can not make an instance of another service the master of its own', async () => {
    await limited.one('deleteAutoscale', { object: 'shop' })
    for (const stranger of [other.master, other.lone]) {
      for (const key of ['uuid', 'name'] as const) {
        const configureBy = (master: Made) =>
          send(operations.createAutoscale, { body: { name: 'shop', master: { [key]: master[key] } } })
        const answer = await configureBy(stranger)
        assert.equal(answer.json.data.service_groups[0].error, 8, answer.text)
        assert.deepEqual(plainly(answer), renamed(await configureBy(nobody), stranger, nobody))
      }
    }
    await limited.one('createAutoscale', { object: 'shop', body: { master: { name: 'till' } } })
    assert.equal((await limited.one('getAutoscale', { object: 'shop' })).status, 'success')
  })

  it('starts, stops and waits for what is its own', async () => {
    assert.equal((await limited.one('startInstances', { object: 'shelf' })).name, 'shelf')
    assert.equal(
      (await limited.one('stopInstances', { object: 'shelf', body: { force: true } })).name,
      'shelf',
    )
    assert.equal((await limited.one('getInstanceLogs', { object: 'shelf' })).uuid, own.plain.uuid)
  })

  it('reaches a service that was deleted and made again under its name', async () => {
    const renewed = await makeService('again')
    const rights = { scopes: [TokenScope.Read], services: ['again'] }
    const { token: reader } = await createToken(api.database, { userUuid: user.uuid, rights })
    const seen = async () => {
      const { json } = await api.send({ path: '/v1/services/list', token: reader })
      return json.data.service_groups.map(({ uuid }: Made) => uuid)
    }
    assert.deepEqual(await seen(), [renewed.uuid])
    await user.api.one('deleteServices', { object: 'again' })
    assert.deepEqual(await seen(), [])
    assert.deepEqual([(await makeService('again')).uuid], await seen())
  })

  it('does not reach a service of another user with the same name', async () => {
    const bob = await api.addUser()
    const theirs = await bob.api.one('createServices', { body: { name: 'shop' } })
    await bob.api.one('createInstances', { body: { image: 'hello', service_group: { name: 'shop' } } })
    const names = (await limited.call('getInstances')).map(({ name }) => name)
    assert.deepEqual(names, ['till', 'shelf'])
    const [entry] = (await limited.attempt('getServices', { object: theirs.uuid })).entries
    assert.partialDeepStrictEqual(entry, { status: 'error', error: 8 })
    assert.ok((await limited.call('getServices')).every(({ uuid }) => uuid === own.service.uuid))
  })
})
