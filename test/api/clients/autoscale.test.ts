import { strict as assert } from 'node:assert'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { sendAsGoSdk } from '../../support/go-sdk.ts'

/** The requests about autoscale that existing clients send, and what they need in the answers. */
describe('an existing client, about autoscale', () => {
  let api: TestApi
  let user: TestUser
  let uuid: string
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    user = await api.addUser()
    const service_group = { services: [{ port: 443, destination_port: 8080, handlers: ['tls', 'http'] }] }
    const [created] = (
      await goSdk('POST', '/v1/instances', { image: 'hello:latest', name: 'app', service_group })
    ).instances
    uuid = created.service_group.uuid
  })

  const goSdk = async (method: string, path: string, body?: unknown) => {
    const call = { method, path, ...(body === undefined ? {} : { body }) }
    return (await sendAsGoSdk(api, user, call)).json.data
  }
  const init = (more: object = {}) =>
    goSdk('POST', '/v1/services/autoscale', { uuid, master: { uuid: '', name: 'app' }, ...more })
  const policy = (name: string, more: object = {}) => ({
    name,
    type: 'step',
    metric: 'cpu',
    adjustment_type: 'change',
    steps: [
      { lower_bound: null, upper_bound: 300, adjustment: -1 },
      { lower_bound: 300, upper_bound: 700, adjustment: 0 },
      { lower_bound: 700, upper_bound: null, adjustment: 1 },
    ],
    ...more,
  })

  /** These are the requests of `scale init`, `add`, `get`, `rm` and `reset`. */
  it('leads a configuration through its life as the command line does', async () => {
    const [unconfigured] = (await goSdk('GET', '/v1/services/autoscale', [{ uuid }])).service_groups
    assert.deepEqual(Object.keys(unconfigured).toSorted(), ['name', 'status', 'uuid'])
    assert.equal(unconfigured.status, 'unconfigured')
    const sizes = { min_size: 1, max_size: 8, warmup_time_ms: 1_000, cooldown_time_ms: 1_000 }
    const [made] = (await init(sizes)).service_groups
    assert.deepEqual(made, { status: 'success', uuid, name: unconfigured.name })
    const [bare] = (await goSdk('GET', '/v1/services/autoscale', [{ name: made.name }])).service_groups
    assert.deepEqual([bare.enabled, bare.policies], [true, []])
    const policies = `/v1/services/${uuid}/autoscale/policies`
    const [added] = (await goSdk('POST', policies, policy('up'))).policies
    assert.deepEqual(added, { status: 'success', name: 'up' })
    await goSdk(
      'POST',
      policies,
      policy('fixed', { adjustment_type: 'absolute', steps: [{ lower_bound: 0, adjustment: 2 }] }),
    )
    const [configured] = (await goSdk('GET', '/v1/services/autoscale', [{ uuid }])).service_groups
    assert.partialDeepStrictEqual(configured, { ...sizes, status: 'success', enabled: true })
    configured.policies.forEach(assertStepPolicy)
    const [flat] = (await goSdk('GET', `${policies}/fixed`)).policies
    assertStepPolicy(flat)
    assert.deepEqual([flat.status, flat.name, flat.adjustment_type], ['success', 'fixed', 'exact'])
    assert.deepEqual((await goSdk('DELETE', `${policies}/up`)).policies, [{ status: 'success', name: 'up' }])
    const [reset] = (await goSdk('DELETE', '/v1/services/autoscale', [{ uuid }])).service_groups
    assert.equal(reset.status, 'success')
    const [after] = (await goSdk('GET', '/v1/services/autoscale', [{ uuid }])).service_groups
    assert.equal(after.status, 'unconfigured')
  })

  it('brings policies along with the configuration, and an array of configurations', async () => {
    const body = { uuid: '', name: 'second', master: { name: 'app' }, policies: [] }
    const answer = await goSdk('POST', '/v1/services/autoscale', [
      { uuid, name: '', master: { name: 'app', uuid: '' }, policies: [policy('up')] },
      body,
    ])
    assert.deepEqual(
      answer.service_groups.map((entry: { status: string; error?: number }) => [entry.status, entry.error]),
      [
        ['success', undefined],
        ['error', 8],
      ],
    )
    const [configured] = (await goSdk('GET', '/v1/services/autoscale', [{ uuid }])).service_groups
    configured.policies.forEach(assertStepPolicy)
  })

  /**
   * The client decodes every entry of this answer as a whole policy, so a failed entry would break it. It
   * shows an answer with another HTTP status as it is.
   */
  it('is told of a policy that is missing in a form that it can read', async () => {
    await init()
    const path = `/v1/services/${uuid}/autoscale/policies/nope`
    const answer = await api.send({ method: 'GET', path, token: user.token })
    assert.equal(answer.status, 404)
    assert.equal(answer.json.message, "No autoscale policy with name 'nope'")
    assert.ok(!('data' in answer.json))
    const [deleted] = (await goSdk('DELETE', path)).policies
    assert.deepEqual([deleted.status, deleted.error], ['error', 8])
  })

  it('reads the errors of a configuration as those of any object', async () => {
    await init()
    const [again] = (await init()).service_groups
    assert.deepEqual([again.status, again.uuid, again.error], ['error', uuid, 26])
    const [stranger] = (await goSdk('GET', '/v1/services/autoscale', [{ name: 'nowhere' }])).service_groups
    assert.deepEqual([stranger.status, stranger.name, stranger.error], ['error', 'nowhere', 8])
  })

  it('shows whose clone an instance is beside fields that it knows', async () => {
    await init()
    const [service] = (await goSdk('GET', '/v1/services', [{ uuid }])).service_groups
    assert.deepEqual([service.autoscale, service.persistent], [true, true])
    const [instance] = (await goSdk('GET', '/v1/instances', [{ name: 'app' }])).instances
    assert.ok(!('clone_of' in instance))
  })

  /** The newer SDKs name the service in the path or in the query, and send arrays of policies. */
  it('is asked as the newer SDKs do', async () => {
    const send = async (method: string, path: string, body?: unknown) => {
      const headers = { accept: 'application/json' }
      const sent = { method, path, token: user.token, headers, ...(body === undefined ? {} : { body }) }
      const answer = await api.send(sent)
      assert.equal(answer.status, 200, answer.text)
      return answer.json.data
    }
    await send('POST', `/v1/services/${uuid}/autoscale`, {
      master: { name: 'app' },
      min_size: 1,
      max_size: 2,
    })
    const policies = `/v1/services/${uuid}/autoscale/policies`
    await send('POST', policies, [policy('a'), policy('b')])
    const names = async (query: string) =>
      (await send('GET', `${policies}${query}`)).policies.map((one: { name: string }) => one.name)
    assert.deepEqual(await names('?count=100'), ['a', 'b'])
    assert.deepEqual(await names('?name=b&name=a'), ['b', 'a'])
    assert.deepEqual(await names('?count=1&from=a'), ['b'])
    assert.equal((await send('GET', `/v1/services/autoscale?uuid=${uuid}`)).service_groups[0].max_size, 2)
    await send('DELETE', policies, [{ name: 'a' }, { name: 'b' }])
    assert.deepEqual(await names(''), [])
    await send('DELETE', `/v1/services/autoscale?uuid=${uuid}`)
  })
})

/**
 * Asserts what the SDK in Go needs to decode a policy: no field is missing, and no bound of a step is null.
 */
function assertStepPolicy(policy: Readonly<Record<string, unknown>>): void {
  assert.deepEqual([policy['type'], typeof policy['enabled']], ['step', 'boolean'])
  for (const key of ['name', 'metric', 'adjustment_type']) assert.equal(typeof policy[key], 'string', key)
  assert.ok(Array.isArray(policy['steps']) && policy['steps'].length > 0)
  for (const step of policy['steps'] as readonly Record<string, unknown>[]) {
    assert.ok('adjustment' in step)
    for (const value of Object.values(step)) assert.ok(Number.isInteger(value), JSON.stringify(step))
  }
}
