import { strict as assert } from 'node:assert'
import { operations } from '../../src/contract/operations.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { namesObjects } from '../../src/contract/request-body.ts'
import { startTestApi } from '../support/api-server.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'

const table = Object.values(operations) as readonly Operation[]
const unknownUuid = '22222222-2222-4222-8222-222222222222'

describe('one user and what belongs to another', () => {
  let api: TestApi
  let owner: TestUser
  let other: TestUser
  let uuid: string
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
  })
  after(() => api.close())

  const body = (operation: Operation, identifier: object) =>
    'timeout_ms' in operation.body.properties ? { ...identifier, timeout_ms: 1 } : identifier

  for (const operation of table.filter(namesObjects)) {
    it(`${operation.id} answers as for an object that does not exist`, async () => {
      const pairs = [
        [{ uuid }, { uuid: unknownUuid }],
        [{ name: 'theirs' }, { name: 'nowhere' }],
      ] as const
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
      assert.equal((await send(uuid)).text, (await send(unknownUuid)).text.replaceAll(unknownUuid, uuid))
      assert.equal((await send('theirs')).text, (await send('nowhere')).text.replaceAll('nowhere', 'theirs'))
    })
  }

  for (const operation of table.filter((each) => each.method === 'GET' && each.id !== 'waitInstances')) {
    it(`${operation.id} without identifiers shows nothing of it`, async () => {
      const answer = await api.send({ path: operation.path, token: other.token })
      for (const secret of [uuid, 'theirs', 'confidential', 'secret', owner.uuid, owner.name]) {
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

  it('was not touched by any of that', async () => {
    assert.equal((await owner.api.one('getInstances', { object: uuid })).state, 'stopped')
  })

  it('is gone with the token: what was revoked opens nothing', async () => {
    const revoked = await api.addUser()
    await api.database.rows({
      name: 'test-revoke',
      text: 'update tokens set revoked_at = now() where user_uuid = $1',
      values: [revoked.uuid],
    })
    assert.equal((await revoked.api.attempt('getInstances')).httpStatus, 401)
  })
})
