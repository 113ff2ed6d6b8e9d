import { strict as assert } from 'node:assert'
import type { OperationId } from '../../src/contract/operations.ts'
import { startTestApi } from '../support/api-server.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'

const pythonSdk = { 'user-agent': 'unikraft-cloud-python' }

describe('a list of objects', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    user = await api.addUser()
  })

  type Named = { readonly uuid: string; readonly name: string }
  const namesOf = (entries: readonly unknown[]) => entries.map((entry) => (entry as Named).name)
  const list = async (id: OperationId, query: Readonly<Record<string, string>>) =>
    (await user.api.call(id, { query })) as readonly unknown[] as readonly Named[]

  for (const [create, get, body] of [
    ['createInstances', 'getInstances', { image: 'hello' }],
    ['createServices', 'getServices', {}],
    ['createVolumes', 'getVolumes', { size_mb: 8 }],
  ] as const) {
    it(`can be read from its newest entry on, with ${get}`, async () => {
      await user.api.call(create, { body: ['a', 'b', 'c', 'd'].map((name) => ({ name, ...body })) })
      const order = { order: 'desc', sortby: 'create_time' }
      assert.deepEqual(namesOf(await list(get, order)), ['d', 'c', 'b', 'a'])
      const [, last] = await list(get, { ...order, count: '2' })
      assert.deepEqual(namesOf(await list(get, { ...order, from: last!.uuid })), ['b', 'a'])
      assert.deepEqual(namesOf(await list(get, { ...order, from: '1', count: '2' })), ['c', 'b'])
      assert.deepEqual(namesOf(await list(get, { order: 'asc' })), ['a', 'b', 'c', 'd'])
    })
  }

  it('begins with `from` itself for a client that leaves it out, in either order', async () => {
    await user.api.call('createVolumes', { body: ['a', 'b', 'c'].map((name) => ({ name, size_mb: 8 })) })
    const { uuid } = await user.api.one('getVolumes', { object: 'b' })
    const page = async (query: string) => {
      const path = `/v1/volumes?from=${uuid}${query}`
      const { json } = await api.send({ path, token: user.token, headers: pythonSdk })
      return namesOf(json.data.volumes)
    }
    assert.deepEqual(await page(''), ['b', 'c'])
    assert.deepEqual(await page('&count=1'), ['b'])
    assert.deepEqual(await page('&order=desc'), ['b', 'a'])
    await user.api.call('deleteVolumes', { body: [{ name: 'b' }] })
    assert.deepEqual(await page(''), ['c'])
    await user.api.call('deleteVolumes', { body: [{ name: 'c' }] })
    // The client leaves out this entry, and takes the end of the list for what it is.
    assert.deepEqual(await page(''), [''])
  })

  it('has the instances that have all of the tags', async () => {
    const body = [
      { name: 'both', image: 'hello', tags: ['prod', 'eu'] },
      { name: 'one', image: 'hello', tags: ['prod'] },
      { name: 'none', image: 'hello' },
    ]
    await user.api.call('createInstances', { body })
    assert.deepEqual(namesOf(await list('getInstances', { tags: 'prod' })), ['both', 'one'])
    assert.deepEqual(namesOf(await list('getInstances', { tags: 'eu,prod' })), ['both'])
    assert.deepEqual(namesOf(await list('getInstances', { tags: 'pro' })), [])
    const repeated = await api.send({ path: '/v1/instances?tags=prod&tags=eu', token: user.token })
    assert.deepEqual(namesOf(repeated.json.data.instances), ['both'])
    const { errors } = await user.api.attempt('getInstances', { query: { tags: 'prod', name: 'one' } })
    assert.match(errors[0]!.message, /^'tags' and 'identifiers' cannot be given together/)
  })

  it('refuses an order that it does not have by naming those that it has', async () => {
    const { errors } = await user.api.attempt('getServices', { query: { order: 'up', sortby: 'name' } })
    assert.deepEqual(
      errors.map(({ message }) => message),
      [
        "'up' is not a valid value for 'order'; valid: asc, desc",
        "'name' is not a valid value for 'sortby'; valid: create_time",
      ],
    )
  })
})
