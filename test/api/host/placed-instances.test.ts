import { strict as assert } from 'node:assert'
import { addNode } from '../../support/accounts.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { createRoostProgram } from '../../support/roost-program.ts'

describe('the host of an instance', () => {
  let api: TestApi
  let user: TestUser
  let admin: TestUser
  before(async () => {
    api = await startTestApi()
    user = await api.addUser()
    admin = await api.addUser({ admin: true })
    const create = async (name: string) => {
      for (const owner of [user, admin])
        await owner.api.one('createInstances', { body: { name, image: 'hello' } })
    }
    await create('first')
    await addNode(api.database, { id: 'h2' })
    await admin.api.one('cordonHosts', { object: 'local' })
    await create('second')
  })
  after(() => api.close())

  const listed = async (owner: TestUser, ...args: readonly string[]) => {
    const roost = await createRoostProgram({ url: api.url, token: owner.token })
    try {
      const { code, out, err } = await roost.run(args)
      assert.equal(code, 0, err)
      return out
    } finally {
      await roost.remove()
    }
  }

  it('is among its details for an administrator, and for nobody else', async () => {
    const shown = async (owner: TestUser) =>
      (await owner.api.call('getInstances')).map((one) => [one.name, one.host])
    assert.deepEqual(await shown(admin), [
      ['first', 'local'],
      ['second', 'h2'],
    ])
    assert.deepEqual(await shown(user), [
      ['first', undefined],
      ['second', undefined],
    ])
    const answer = await api.send({ path: '/v1/instances?name=second', token: user.token })
    assert.ok(!('host' in answer.json.data.instances[0]))
  })

  it('is a column of ps if there are several, and in what inspect shows', async () => {
    assert.match(
      await listed(admin, 'ps'),
      /MEMORY +HOST +ADDRESS .*\nfirst .* local +10\..*\nsecond .* h2 +10\./,
    )
    assert.doesNotMatch(await listed(admin, 'ps', 'second'), /HOST|h2/)
    assert.doesNotMatch(await listed(user, 'ps'), /HOST|h2|local/)
    assert.equal(JSON.parse(await listed(admin, 'inspect', 'second')).host, 'h2')
  })
})
