import { strict as assert } from 'node:assert'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'

describe('quotas', () => {
  let api: TestApi
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(() => resetFaults(api.control))

  it('are reported with what is used, what is allowed, and the bounds of single objects', async () => {
    const user = await api.addUser({ hard: { instances: 9 } })
    await user.api.call('createInstances', {
      body: { image: 'hello', memory_mb: 100, autostart: true, replicas: 1 },
    })
    await user.api.one('createInstances', { body: { image: 'hello' } })
    const quotas = await user.api.one('getQuotas')
    assert.equal(quotas.uuid, user.uuid)
    assert.partialDeepStrictEqual(quotas.used, {
      instances: 3,
      live_instances: 2,
      live_memory_mb: 200,
      live_vcpus: 2,
    })
    assert.equal(quotas.hard.instances, 9)
    assert.ok(Object.values(quotas.hard).every((amount) => amount > 0))
    assert.partialDeepStrictEqual(quotas.limits, { min_memory_mb: 16, max_memory_mb: 8192, max_vcpus: 1 })
  })

  it('can not be exceeded by creates that come at the same time', async () => {
    const user = await api.addUser({ hard: { instances: 7 } })
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        user.api.attempt('createInstances', { body: { image: 'hello', replicas: 1 } }),
      ),
    )
    const made = answers.filter((answer) => answer.status === 'success').length
    assert.equal(made, 3)
    assert.equal((await user.api.one('getQuotas')).used.instances, 6)
    const refused = answers.find((answer) => answer.status === 'error')?.entries[0]
    assert.ok(refused && 'error' in refused)
    assert.equal(refused.error, 19)
    assert.match(refused.message, /^Quota 'instances' exceeded: 8 with this request, 7 allowed$/)
  })

  it('can not be exceeded by starts that come at the same time', async () => {
    const user = await api.addUser({ hard: { liveInstances: 2 } })
    await user.api.call('createInstances', { body: { image: 'hello', name: 'a', replicas: 5 } })
    const uuids = (await user.api.call('listInstances')).map(({ uuid }) => uuid)
    const answers = await Promise.all(uuids.map((object) => user.api.attempt('startInstances', { object })))
    const codes = answers.map(({ entries: [entry] }) => (entry && 'error' in entry ? entry.error : 0))
    assert.deepEqual(
      codes.toSorted((one, other) => one - other),
      [0, 0, 19, 19, 19, 19],
    )
    assert.equal((await user.api.one('getQuotas')).used.live_instances, 2)
  })

  it('bind the later objects of one request, in its order', async () => {
    const user = await api.addUser({ hard: { instances: 2 } })
    const answer = await user.api.attempt('createInstances', {
      body: [{ image: 'hello', replicas: 1 }, { image: 'hello' }],
    })
    assert.deepEqual(
      answer.entries.map((entry) => entry.status),
      ['success', 'success', 'error'],
    )
  })

  it('are free again with the delete', async () => {
    const user = await api.addUser({ hard: { instances: 1 } })
    for (let round = 0; round < 3; round++) {
      const { uuid } = await user.api.one('createInstances', { body: { image: 'hello' } })
      await user.api.one('deleteInstances', { object: uuid })
    }
  })
})
