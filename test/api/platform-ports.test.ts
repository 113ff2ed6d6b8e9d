import { strict as assert } from 'node:assert'
import { startTestApi } from '../support/api-server.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'

describe('ports of the platform itself', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi({
      settings: { publicPorts: { offset: 8_000, withheld: new Set([8_233, 15_432]) } },
    })
  })
  after(() => api.close())
  beforeEach(async () => {
    user = await api.addUser()
  })

  const service = (...ports: readonly number[]) => ({ services: ports.map((port) => ({ port })) })
  const message = (port: number) =>
    `Port ${port} cannot be used: a part of the platform itself listens there; publish another one`

  it('are refused to a service by their public numbers, which are lower by the offset', async () => {
    const answer = await user.api.attempt('createServices', {
      body: [
        { name: 'ui', ...service(233) },
        { name: 'database', ...service(443, 7_432) },
        { name: 'free', ...service(8_233, 15_432) },
      ],
    })
    assert.equal(answer.httpStatus, 200)
    assert.deepEqual(answer.entries.slice(0, 2), [
      { status: 'error', name: 'ui', message: message(233), error: 24 },
      { status: 'error', name: 'database', message: message(7_432), error: 24 },
    ])
    assert.deepEqual(
      (await user.api.call('listServices')).map(({ name }) => name),
      ['free'],
    )
  })

  it('are refused to a service that is made with an instance, and neither is made', async () => {
    const body = { image: 'hello', name: 'web', service_group: service(443, 233) }
    const answer = await user.api.attempt('createInstances', { body })
    assert.deepEqual(answer.entries, [{ status: 'error', name: 'web', message: message(233), error: 24 }])
    assert.deepEqual(await user.api.call('listInstances'), [])
    assert.deepEqual(await user.api.call('listServices'), [])
  })

  it('are also those for which the offset leaves no port to listen on', async () => {
    const last = 65_535 - 8_000
    await user.api.one('createServices', { body: service(last) })
    const answer = await user.api.attempt('createServices', { body: service(last + 1) })
    const why = 'this platform listens 8000 ports higher; publish one of at most 57535'
    assert.deepEqual(answer.entries, [
      { status: 'error', message: `Port 57536 cannot be used: ${why}`, error: 24 },
    ])
  })
})
