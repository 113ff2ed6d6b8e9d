import { strict as assert } from 'node:assert'
import { startTestApi, testMetroDomain } from '../../support/api-server.ts'
import type { TestApi } from '../../support/api-server.ts'

describe('the installation', () => {
  let api: TestApi
  before(async () => {
    api = await startTestApi({ settings: { publicPorts: { offset: 7_000, withheld: new Set() } } })
  })
  after(() => api.close())

  it('tells every user how services and the registry are reached', async () => {
    const user = await api.addUser()
    assert.deepEqual(await user.api.one('getInstallation'), {
      status: 'success',
      metro_domain: testMetroDomain,
      public_port_offset: 7_000,
      registry: `https://registry.${testMetroDomain}`,
    })
    assert.equal((await api.send({ path: '/v1/installation' })).status, 401)
  })
})
