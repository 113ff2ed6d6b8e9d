import { strict as assert } from 'node:assert'
import { operations } from '../../src/contract/operations.ts'
import { DataKey } from '../../src/contract/operation.ts'
import { identifiersOf } from '../../src/contract/operation.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { namesObjects } from '../../src/contract/request/body.ts'
import { startTestApi, testMetroDomain } from '../support/api-server.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'
import { readRows } from '../support/rows.ts'
import { assertShows } from '../support/shown-fields.ts'

const table = Object.values(operations) as readonly Operation[]
const unknownUuid = '22222222-2222-4222-8222-222222222222'

describe('a user who asks for objects of another', () => {
  let api: TestApi
  let owner: TestUser
  let other: TestUser
  let uuid: string
  let serviceUuid: string
  let volumeUuid: string
  let scheduleUuid: string
  let tokenUuid: string
  before(async () => {
    api = await startTestApi()
    owner = await api.addUser()
    other = await api.addUser()
    api.images.references.set(`${owner.name}/secret:latest`, {})
    uuid = (
      await owner.api.one('createInstances', {
        body: { image: 'hello', name: 'theirs', env: { K: 'confidential' } },
      })
    ).uuid
    const service = { name: 'theirs', services: [{ port: 443 }], domains: [{ name: 'their-secret' }] }
    serviceUuid = (await owner.api.one('createServices', { body: service })).uuid
    await owner.api.one('createInstances', { body: { image: 'hello', name: 'their-instance' } })
    volumeUuid = (await owner.api.one('createVolumes', { body: { name: 'theirs', size_mb: 8 } })).uuid
    const schedule = { name: 'theirs', cron: '@daily', action: { start: { instances: ['theirs'] } } }
    scheduleUuid = (await owner.api.one('createSchedules', { body: schedule })).uuid
    tokenUuid = (await owner.api.one('createTokens', { body: { label: 'theirs' } })).uuid
    const attached = { image: 'hello', name: 'their-master', service_group: { name: 'theirs' } }
    const { uuid: master } = await owner.api.one('createInstances', { body: attached })
    const policy = { name: 'theirs', type: 'step', steps: [{ lower_bound: 500, adjustment: 1 }] }
    await owner.api.one('createAutoscale', {
      object: serviceUuid,
      body: { master: { uuid: master }, policies: [policy] },
    })
  })
  after(() => api.close())

  const body = (operation: Operation, identifier: object) => ({
    ...identifier,
    ...('timeout_ms' in operation.body.properties ? { timeout_ms: 1 } : {}),
    ...(operation.id === 'attachVolumes' ? { attach_to: { uuid }, at: '/data' } : {}),
    ...(operation.id === 'createAutoscale' ? { master: { uuid } } : {}),
  })

  const ofOwner = (operation: Operation) => operation.path.includes('{owner}')

  for (const operation of table.filter((each) => namesObjects(each) && !ofOwner(each))) {
    const ownUuid = () => {
      if (operation.dataKey === DataKey.Volumes) return volumeUuid
      if (operation.dataKey === DataKey.Tokens) return tokenUuid
      if (operation.dataKey === DataKey.Schedules) return scheduleUuid
      return operation.dataKey === DataKey.ServiceGroups ? serviceUuid : uuid
    }
    // Hosts belong to administrators, and neither user is one.
    const ownName = operation.dataKey === DataKey.Hosts ? 'local' : 'theirs'
    const isKnownByUuid = identifiersOf(operation).includes('uuid')

    it(`${operation.id} answers as for an object that does not exist`, async () => {
      const pairs = [
        ...(isKnownByUuid ? [[{ uuid: ownUuid() }, { uuid: unknownUuid }] as const] : []),
        [{ name: ownName }, { name: 'nowhere' }] as const,
      ]
      for (const [theirs, nobodys] of pairs) {
        const send = (identifier: { uuid?: string; name?: string }) =>
          api.send({
            method: operation.method,
            path: operation.path,
            token: other.token,
            headers: { accept: 'application/json' },
            body: body(operation, identifier),
          })
        const value = String(Object.values(theirs)[0])
        const asUnknown = (await send(nobodys)).text.replaceAll(String(Object.values(nobodys)[0]), value)
        assert.equal((await send(theirs)).text, asUnknown)
      }
    })

    it(`${operation.id} answers the same in local scope`, async () => {
      const send = (object: string) =>
        api.send({
          method: operation.method,
          path: operation.localPath!.replace('{object}', object),
          token: other.token,
          headers: { accept: 'application/json' },
          body: body(operation, {}),
        })
      if (isKnownByUuid) {
        const unknown = (await send(unknownUuid)).text.replaceAll(unknownUuid, ownUuid())
        assert.equal((await send(ownUuid())).text, unknown)
      }
      assert.equal((await send(ownName)).text, (await send('nowhere')).text.replaceAll('nowhere', ownName))
    })
  }

  for (const operation of table.filter(
    (each) => each.method === 'GET' && each.id !== 'waitInstances' && !ofOwner(each),
  )) {
    it(`${operation.id} without identifiers shows nothing of it`, async () => {
      const answer = await api.send({ path: operation.path, token: other.token })
      for (const secret of [
        uuid,
        serviceUuid,
        volumeUuid,
        scheduleUuid,
        tokenUuid,
        'theirs',
        'confidential',
        'secret',
        owner.uuid,
        owner.name,
      ]) {
        assert.ok(!answer.text.includes(secret), `${secret} in ${answer.text}`)
      }
    })
  }

  it('has a namespace of names of its own', async () => {
    await other.api.one('createInstances', { body: { image: 'hello', name: 'theirs' } })
    assert.equal((await owner.api.one('getInstances', { object: 'theirs' })).uuid, uuid)
  })

  it('can not ask for the quotas of the other', async () => {
    const answer = await other.api.attempt('getQuotas', { object: owner.uuid })
    const nobodys = await other.api.attempt('getQuotas', { object: unknownUuid })
    assert.deepEqual(
      answer.entries.map((entry) => 'error' in entry && entry.error),
      [8],
    )
    assert.equal(answer.status, nobodys.status)
    assert.equal((await owner.api.one('getQuotas', { object: owner.uuid })).uuid, owner.uuid)
  })

  it('can not attach an instance to a service of the other', async () => {
    for (const [theirs, nobodys] of [
      [{ uuid: serviceUuid }, { uuid: unknownUuid }],
      [{ name: 'theirs' }, { name: 'nowhere' }],
    ] as const) {
      const attach = async (service_group: { uuid?: string; name?: string }) => {
        const answer = await other.api.attempt('createInstances', { body: { image: 'hello', service_group } })
        return JSON.stringify(answer)
      }
      const value = String(Object.values(theirs)[0])
      const asUnknown = (await attach(nobodys)).replaceAll(String(Object.values(nobodys)[0]), value)
      assert.equal(await attach(theirs), asUnknown)
    }
  })

  for (const operation of table.filter(ofOwner)) {
    it(`${operation.id} answers as for a service that does not exist`, async () => {
      const send = (path: string | undefined, service: string) =>
        api.send({
          method: operation.method,
          path: path!.replace('{owner}', service).replace('{object}', 'theirs'),
          token: other.token,
          ...(operation.method === 'POST'
            ? { body: { name: 'mine', type: 'step', steps: [{ lower_bound: 1, adjustment: 1 }] } }
            : {}),
          ...(operation.method === 'DELETE' && path === operation.path ? { body: { name: 'theirs' } } : {}),
        })
      const paths = [operation.path, ...(operation.localPath === undefined ? [] : [operation.localPath])]
      for (const path of paths) {
        for (const [theirs, nobodys] of [
          [serviceUuid, unknownUuid],
          ['theirs', 'nowhere'],
        ] as const) {
          const answer = await send(path, theirs)
          assert.equal(answer.status, 404, answer.text)
          assert.equal(answer.text, (await send(path, nobodys)).text.replaceAll(nobodys, theirs))
        }
      }
    })
  }

  it('can not have an instance of the other cloned', async () => {
    const own = await other.api.one('createServices', { body: {} })
    const asMaster = async (master: object) =>
      JSON.stringify(await other.api.attempt('createAutoscale', { object: own.uuid, body: { master } }))
    const theirs = await asMaster({ name: 'their-master' })
    assert.ok(theirs.includes('"error":8'), theirs)
    assert.equal(theirs, (await asMaster({ name: 'nobodys' })).replaceAll('nobodys', 'their-master'))
    assert.equal(
      await asMaster({ uuid }),
      (await asMaster({ uuid: unknownUuid })).replaceAll(unknownUuid, uuid),
    )
  })

  describe('with volumes', () => {
    /**
     * Asserts that the answer for an object of the other user is word for word the answer for an object that
     * does not exist.
     */
    const twice = async (
      given: { readonly theirs: object; readonly nobodys: object },
      ask: (given: object) => Promise<unknown>,
    ) => {
      const value = String(Object.values(given.theirs)[0])
      const asUnknown = JSON.stringify(await ask(given.nobodys))
      assert.ok(asUnknown.includes('"error":8'), asUnknown)
      assert.equal(
        JSON.stringify(await ask(given.theirs)),
        asUnknown.replaceAll(String(Object.values(given.nobodys)[0]), value),
      )
    }
    const pairs = () => [
      { theirs: { uuid: volumeUuid }, nobodys: { uuid: unknownUuid } },
      { theirs: { name: 'theirs' }, nobodys: { name: 'nowhere' } },
    ]

    it('can not make an instance with one of the other', async () => {
      for (const pair of pairs()) {
        await twice(pair, (volume) => {
          const volumes = [{ ...volume, at: '/data' }]
          return other.api.attempt('createInstances', { body: { image: 'hello', volumes } })
        })
      }
    })

    it('can not attach one of its own to an instance of the other, nor detach it from there', async () => {
      const own = await other.api.one('createVolumes', { body: { size_mb: 8 } })
      for (const pair of [
        { theirs: { uuid }, nobodys: { uuid: unknownUuid } },
        { theirs: { name: 'their-instance' }, nobodys: { name: 'nowhere' } },
      ]) {
        await twice(pair, (attach_to) =>
          other.api.attempt('attachVolumes', { object: own.uuid, body: { attach_to, at: '/data' } }),
        )
        await twice(pair, (from) => other.api.attempt('detachVolumes', { object: own.uuid, body: { from } }))
      }
    })

    it('has a namespace of names of its own', async () => {
      const own = await other.api.one('createVolumes', { body: { name: 'theirs', size_mb: 8 } })
      assert.notEqual(own.uuid, volumeUuid)
      await other.api.one('deleteVolumes', { object: 'theirs' })
      assertShows(await owner.api.one('getVolumes', { object: 'theirs' }), {
        uuid: volumeUuid,
        state: 'available',
        attached_to: [],
      })
    })
  })

  it('learns of a domain of the other that it is in use, and nothing more', async () => {
    const answer = await other.api.attempt('createServices', {
      body: { domains: [{ name: 'their-secret' }] },
    })
    const message = `Domain 'their-secret.${testMetroDomain}' is already in use`
    assert.deepEqual(answer.entries, [{ status: 'error', message, error: 23 }])
    const found = await other.api.call('listServices', { query: { fqdn: `their-secret.${testMetroDomain}` } })
    assert.deepEqual(found, [])
  })

  it('has a namespace of names of services of its own', async () => {
    const own = await other.api.one('createServices', { body: { name: 'theirs', services: [{ port: 443 }] } })
    assert.notEqual(own.uuid, serviceUuid)
    assert.equal((await owner.api.one('getServices', { object: 'theirs' })).uuid, serviceUuid)
  })

  it('has changed nothing of the other by all this', async () => {
    const { instances } = await owner.api.one('getServices', { object: serviceUuid })
    assert.deepEqual(
      instances?.map(({ name }) => name),
      ['their-master'],
    )
    const [policy, ...more] = await owner.api.call('getAutoscalePolicies', { owner: serviceUuid })
    assert.deepEqual([policy?.name, more], ['theirs', []])
    assert.equal((await owner.api.one('getInstances', { object: uuid })).state, 'stopped')
  })

  it('is refused with a token that was revoked', async () => {
    const revoked = await api.addUser()
    await readRows(api.database, {
      text: 'update tokens set revoked_at = now() where user_uuid = $1',
      values: [revoked.uuid],
    })
    assert.equal((await revoked.api.attempt('getInstances')).httpStatus, 401)
  })
})
