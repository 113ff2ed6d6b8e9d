import { strict as assert } from 'node:assert'
import { startTestApi, testMetroDomain } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { assertShows } from '../../support/shown-fields.ts'

describe('instances and their services', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    user = await api.addUser()
  })

  const create = (body: object) => user.api.attempt('createInstances', { body: { image: 'hello', ...body } })
  const created = (body: object) => user.api.one('createInstances', { body: { image: 'hello', ...body } })
  const view = (object: string) => user.api.one('getInstances', { object })
  const service = (object: string) => user.api.one('getServices', { object })
  const isGone = async (object: string) =>
    (await user.api.attempt('getServices', { object })).status === 'error'

  it('show none where they are attached to none', async () => {
    const instance = await created({})
    assert.ok(!('service_group' in instance) && !('service_group' in (await view(instance.uuid))))
  })

  it('make one with ports, domains and limits, which goes with them', async () => {
    const { uuid, service_group } = await created({
      name: 'web',
      service_group: {
        services: [
          { port: 443, destination_port: 8080 },
          { port: 80, handlers: ['http', 'redirect'] },
        ],
        domains: [{ name: 'made-with' }],
        soft_limit: 2,
        hard_limit: 3,
      },
    })
    assert.match(service_group?.name ?? '', /^[a-z]+-[a-z]+-[a-z0-9]{8}$/)
    assert.deepEqual(service_group?.domains, [{ fqdn: `made-with.${testMetroDomain}` }])
    assert.partialDeepStrictEqual(await service(service_group.uuid), {
      persistent: false,
      soft_limit: 2,
      hard_limit: 3,
      services: [
        { port: 443, destination_port: 8080, handlers: ['tls', 'http'] },
        { port: 80, destination_port: 443, handlers: ['http', 'redirect'] },
      ],
      instances: [{ uuid, name: 'web' }],
    })
    await user.api.one('deleteInstances', { object: 'web' })
    assert.ok(await isGone(service_group.uuid))
    await created({ service_group: { services: [{ port: 443 }], domains: [{ name: 'made-with' }] } })
  })

  it('make one without ports and domains of an empty object', async () => {
    const { service_group } = await created({ service_group: {} })
    assert.deepEqual(service_group?.domains, [])
    assertShows(await service(service_group.uuid), { persistent: false, services: [] })
  })

  it('share one with their replicas, which stays', async () => {
    const instances = await user.api.call('createInstances', {
      body: { image: 'hello', replicas: 1, service_group: { services: [{ port: 443 }] } },
    })
    const [one, other] = instances.map((each) => each.service_group?.uuid)
    assert.ok(one !== undefined && one === other)
    for (const { uuid } of instances) await user.api.one('deleteInstances', { object: uuid })
    assert.deepEqual((await service(one)).instances, [])
  })

  it('make a service persistent as the second of it', async () => {
    const { service_group } = await created({ service_group: { services: [{ port: 443 }] } })
    await created({ service_group: { uuid: service_group?.uuid, name: '', services: [], domains: [] } })
    assert.equal((await service(service_group!.uuid)).persistent, true)
  })

  it('are not made where there is no such service', async () => {
    const answer = await create({ name: 'lost', service_group: { name: 'nowhere' } })
    const message = "No service group with name 'nowhere'"
    assert.deepEqual(answer.entries, [{ status: 'error', name: 'lost', message, error: 8 }])
    assert.deepEqual(await user.api.call('listInstances'), [])
  })

  it('are attached to an existing service or make a new one, and not both', async () => {
    const names = { name: 'web', uuid: '11111111-1111-4111-8111-111111111111' }
    for (const service_group of [
      names,
      { name: 'web', services: [{ port: 443 }] },
      { uuid: names.uuid, domains: [{ name: 'x' }] },
      { name: 'web', soft_limit: 1 },
    ]) {
      const answer = await create({ service_group })
      assert.deepEqual([answer.httpStatus, answer.errors[0]?.error], [400, 17], JSON.stringify(answer))
    }
  })

  it('are not made where their domain is reserved or in use', async () => {
    await created({ service_group: { domains: [{ name: 'used-by-one' }] } })
    for (const [name, code] of [
      ['used-by-one', 23],
      ['www', 24],
      [`${testMetroDomain}.`, 24],
    ] as const) {
      const [entry] = (await create({ name: 'not-made', service_group: { domains: [{ name }] } })).entries
      assert.ok(entry && 'error' in entry)
      assert.deepEqual([entry.name, entry.error], ['not-made', code])
    }
    assert.equal((await user.api.call('listInstances')).length, 1)
  })

  describe('scale-to-zero', () => {
    const settings = async (body: object) => {
      const instance = await created(body)
      const { state, scale_to_zero } = await view(instance.uuid)
      assert.equal(instance.state, state)
      return [state, scale_to_zero] as const
    }

    it('is off where nothing is said', async () => {
      const off = { enabled: false, policy: 'off', cooldown_time_ms: 1_000, stateful: false }
      assert.deepEqual(await settings({}), ['stopped', off])
      assert.deepEqual(await settings({ scale_to_zero: { policy: 'off' } }), ['stopped', off])
    })

    for (const policy of ['on', 'idle']) {
      it(`with the policy ${policy} is standby from the start on`, async () => {
        const wanted = { policy, cooldown_time_ms: 250, stateful: true }
        assert.deepEqual(await settings({ scale_to_zero: wanted }), ['standby', { enabled: true, ...wanted }])
      })
    }

    it('begins with a start where that is asked for', async () => {
      api.control.faults.holdsStarts = true
      const [state] = await settings({ autostart: true, scale_to_zero: { policy: 'on' } })
      assert.equal(state, 'starting')
    })

    it('is on by the deprecated feature, also beside the policy that clients add', async () => {
      const on = { enabled: true, policy: 'on', cooldown_time_ms: 1_000, stateful: false }
      const features = ['scale-to-zero', 'delete-on-stop']
      assert.deepEqual(await settings({ features }), ['standby', on])
      assert.deepEqual(await settings({ features, scale_to_zero: { policy: 'off' } }), ['standby', on])
      const idle = { policy: 'idle', cooldown_time_ms: 5, stateful: true }
      assert.deepEqual(await settings({ features, scale_to_zero: idle }), [
        'standby',
        { enabled: true, ...idle },
      ])
    })

    it('is shown as disabled while the instance speaks against it', async () => {
      const { uuid } = await created({ scale_to_zero: { policy: 'on' } })
      await api.control.record(uuid, { state: 'running', standbyDisabled: true })
      assert.partialDeepStrictEqual((await view(uuid)).scale_to_zero, { enabled: false, policy: 'on' })
      await api.control.record(uuid, { state: 'running', standbyDisabled: false })
      assert.equal((await view(uuid)).scale_to_zero?.enabled, true)
    })

    it('shows the snapshot and the origin of the stop in standby', async () => {
      const { uuid } = await created({ scale_to_zero: { policy: 'on', stateful: true } })
      const snapshotUuid = '33333333-3333-4333-8333-333333333333'
      await api.control.record(uuid, { state: 'standby', snapshotUuid, stopReason: 7, stoppedAtMs: 1_000 })
      assert.partialDeepStrictEqual(await view(uuid), {
        state: 'standby',
        snapshot: { uuid: snapshotUuid },
        stop_reason: 7,
        stopped_at: '1970-01-01T00:00:01Z',
      })
      await api.control.record(uuid, { state: 'running' })
      const running = await view(uuid)
      assert.ok(!('snapshot' in running) && !('stop_reason' in running))
    })

    it('shows why a wake failed, until one succeeds', async () => {
      const { uuid } = await created({ scale_to_zero: { policy: 'on' } })
      await api.control.record(uuid, { state: 'standby', failure: 'the image is gone' })
      const failed = await view(uuid)
      assert.deepEqual([failed.failure, 'message' in failed], ['the image is gone', false])
      await api.control.record(uuid, { state: 'running' })
      assert.ok(!('failure' in (await view(uuid))))
    })

    it('counts against the live quotas from the start on', async () => {
      const small = await api.addUser({ hard: { liveInstances: 1 } })
      const body = { image: 'hello', scale_to_zero: { policy: 'on' } }
      const instance = await small.api.one('createInstances', { body })
      assert.partialDeepStrictEqual((await small.api.one('getQuotas')).used, {
        live_instances: 1,
        live_memory_mb: 128,
      })
      const [refused] = (await small.api.attempt('createInstances', { body })).entries
      assert.ok(refused && 'error' in refused && refused.error === 19)
      await small.api.one('createInstances', { body: { image: 'hello' } })
      // The instance counts against the live quota already. So its start by hand is not refused.
      assert.equal(
        (await small.api.one('startInstances', { object: instance.uuid })).previous_state,
        'standby',
      )
    })

    it('with a policy that is missing or unknown is refused as a whole', async () => {
      for (const scale_to_zero of [
        {},
        { stateful: true },
        { policy: 'maybe' },
        { policy: 'on', cooldown_time_ms: -1 },
      ]) {
        assert.equal((await create({ scale_to_zero })).httpStatus, 400)
      }
    })
  })
})
