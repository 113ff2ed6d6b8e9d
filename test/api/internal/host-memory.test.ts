import { strict as assert } from 'node:assert'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { readRows } from '../../support/rows.ts'

describe('the memory of hosts, by the API', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
    // Room for two instances of 448 MiB, each with 64 MiB for its VMM. 100 MiB are left then.
    await readRows(api.database, { text: 'update nodes set memory_mb = 1124', values: [] })
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    user = await api.addUser()
  })

  const wanted = { image: 'hello', memory_mb: 448, autostart: true }

  it('refuses a create and a start that no host has memory for with code 9 and the figures, and takes them later', async () => {
    await user.api.one('createInstances', { body: { ...wanted, name: 'a' } })
    await user.api.one('createInstances', { body: { ...wanted, name: 'late', autostart: false } })
    const many = await user.api.attempt('createInstances', { body: { ...wanted, replicas: 1 } })
    assert.equal(many.httpStatus, 200)
    const advice = 'ask for less, stop other instances, or try again later'
    assert.partialDeepStrictEqual(many.entries, [
      {
        status: 'error',
        error: 9,
        message: `No host has memory for 2 instances of 512 MiB each, the VMM included: the most that one has left is 612 MiB; ${advice}`,
      },
    ])
    await user.api.one('createInstances', { body: { ...wanted, name: 'b' } })
    const one = await user.api.attempt('createInstances', { body: { ...wanted, name: 'c' } })
    assert.partialDeepStrictEqual(one.entries, [
      {
        error: 9,
        message: `No host has memory for an instance of 512 MiB, the VMM included: the most that one has left is 100 MiB; ${advice}`,
      },
    ])
    const start = await user.api.attempt('startInstances', { object: 'late' })
    assert.partialDeepStrictEqual(start.entries, [
      {
        name: 'late',
        state: 'stopped',
        error: 9,
        message:
          "Instance 'late' needs 512 MiB to start, but its host has 100 MiB of memory left: stop other instances, or try again later",
      },
    ])
    assert.equal((await user.api.one('getQuotas')).used.live_instances, 2)
    await user.api.one('stopInstances', { object: 'a' })
    assert.equal((await user.api.one('startInstances', { object: 'late' })).status, 'success')
  })
})
