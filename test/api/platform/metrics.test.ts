import assert from 'node:assert/strict'
import { createToken } from '../../../src/db/account/tokens.ts'
import { TokenScope } from '../../../src/domain/account/token-scope.ts'
import { noTraffic } from '../../../src/domain/service/service-traffic.ts'
import { PartUnreachable } from '../../../src/control/part-client.ts'
import type { PartClient } from '../../../src/control/part-client.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi } from '../../support/api-server.ts'

const durations = { counts: [1, 0, 2, 0, 0, 0, 0, 0, 0], seconds: 0.2 }
const counted = { ...noTraffic, requests: { '5xx': 3 }, durations }
const parts: PartClient = {
  placesHere: [],
  readTrafficHere: async () => [],
  places: async () => [{ part: 'gateway', name: '10.0.0.2:7073', address: 'http://10.0.0.2:7073' }],
  readMetrics: async () => await Promise.reject(new PartUnreachable('silent')),
  readTraffic: async (uuids) => [
    {
      gateway: '1',
      run: 'first',
      traffic: Object.fromEntries(uuids.map((uuid) => [uuid, counted])),
    },
  ],
  async close() {},
}

describe('metrics by a token with the scope metrics', () => {
  let api: TestApi
  let admin: string
  let user: Awaited<ReturnType<TestApi['addUser']>>
  const tokenOf = async (userUuid: string, services: readonly string[] | null = null) =>
    (await createToken(api.database, { userUuid, rights: { scopes: [TokenScope.Metrics], services } })).token
  before(async () => {
    api = await startTestApi({ parts })
    admin = await tokenOf((await api.addUser({ admin: true })).uuid)
    user = await api.addUser()
  })
  after(() => api.close())

  it('of an administrator list all parts and hosts at the address that was asked', async () => {
    const { status, json } = await api.send({ path: '/platform/targets', token: admin })
    assert.equal(status, 200)
    const groups = json as { targets: string[]; labels: Record<string, string> }[]
    assert.deepEqual(
      groups.map(({ targets, labels }) => [targets[0], labels['part'], labels['instance']]),
      [
        [new URL(api.url).host, 'gateway', '10.0.0.2:7073'],
        [new URL(api.url).host, 'agent', 'local'],
      ],
    )
  })

  it('of an administrator are those of a part, 502 if it is silent, and 404 if there is none', async () => {
    const get = (part: string, name: string) =>
      api.send({ path: `/platform/metrics?part=${part}&name=${name}`, token: admin })
    assert.match((await get('agent', 'local')).text, /^agent_of\{host="local"\} 1/)
    assert.equal((await get('gateway', '10.0.0.2:7073')).status, 502)
    assert.equal((await get('gateway', 'elsewhere')).status, 404)
  })

  it('of a user are not those of the platform', async () => {
    for (const path of ['/platform/targets', '/platform/metrics?part=agent&name=local']) {
      assert.equal((await api.send({ path, token: await tokenOf(user.uuid) })).status, 403)
      assert.equal((await api.send({ path })).status, 401)
    }
  })

  it('of a user are those of the services within its limit', async () => {
    for (const name of ['one', 'two'])
      await user.api.one('createInstances', { body: { name, image: 'hello', service_group: {} } })
    const services = (await user.api.call('listServices', {})).map(({ name }) => name).toSorted()
    const token = await tokenOf(user.uuid, services.slice(0, 1))
    const { status, text } = await api.send({ path: '/v1/services/metrics', token })
    assert.equal(status, 200)
    const named = new Set([...text.matchAll(/service_name="([^"]*)"/g)].map(([, name]) => name))
    assert.deepEqual([...named], services.slice(0, 1))
    assert.match(text, /^service_requests_total\{[^}]*gateway="1",status="5xx"\} 3$/m)
    const headers = { accept: 'application/json' }
    const { json } = await api.send({ path: '/v1/services/metrics', token, headers })
    const within = json.data.service_groups[0].request_durations as {
      within_seconds: number
      count: number
    }[]
    assert.deepEqual(
      within.slice(0, 3).map(({ within_seconds: bound, count }) => [bound, count]),
      [
        [0.01, 1],
        [0.05, 1],
        [0.1, 3],
      ],
    )
    const instances = await api.send({ path: '/v1/instances/metrics', token })
    assert.match(instances.text, /^instance_info\{[^}]*service_name="[^"]+"\} 1$/m)
  })
})
