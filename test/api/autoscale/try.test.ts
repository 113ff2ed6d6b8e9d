import assert from 'node:assert/strict'
import { NodeUnavailable } from '../../../src/control/host-client.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'

const stepMs = 5_000

describe('trying autoscale on the recorded load', () => {
  let api: TestApi
  let user: TestUser
  let service: { readonly uuid: string; readonly name: string }
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    delete api.nodes.fails
    user = await api.addUser()
    const { service_group: made } = await user.api.one('createInstances', {
      body: { name: 'web', image: 'hello', service_group: { services: [{ port: 443 }] } },
    })
    service = made!
  })

  /** As if the service had used so much in each of the last steps. */
  function recorded(count: number, millicores: number): void {
    const newest = Math.floor(Date.now() / stepMs) * stepMs
    const none = { rssBytes: 1, rxBytes: 0, rxPackets: 0, txBytes: 0, txPackets: 0, handled: 0, wakes: 0 }
    const used = { ...none, seenMs: stepMs, cpuTimeMs: millicores * 5, inFlightMs: 0 }
    const steps = Array.from({ length: count }, (_, index) => ({
      ...used,
      atMs: newest - (count - index) * stepMs,
    }))
    api.nodes.histories.set(`local ${service.uuid}`, steps)
  }
  const policy = (bound: number) => ({
    name: 'grow',
    type: 'step' as const,
    steps: [{ lower_bound: bound, adjustment: 1 }],
  })
  const failure = async (body: object) =>
    (await user.api.attempt('tryAutoscale', { object: service.uuid, body })).entries[0] as {
      readonly message: string
    }

  it('says what a policy would have done, and changes nothing', async () => {
    recorded(60, 900)
    const body = { policies: [policy(400)], max_size: 3 }
    const tried = await user.api.one('tryAutoscale', { object: service.uuid, body })
    assert.deepEqual([tried.last, tried.step_ms, tried.steps.length], ['1h', stepMs, 60])
    assert.deepEqual([tried.smallest_size, tried.largest_size, tried.resizes], [1, 3, 2])
    assert.equal(tried.ran_instance_seconds, 300)
    assert.equal(tried.steps.at(-1)?.load.cpu, 900)
    assert.equal(tried.steps.at(-1)?.metrics?.cpu, 300)
    assert.equal(tried.decisions.length, 2)
    assert.match(
      tried.text,
      /^The load of 5 min was recorded\. It would have had 1 to 3 instances, after 2 changes of the size: 1\d\.\d instance minutes, and 5\.0 instance minutes really ran\./,
    )
    const { status } = await user.api.one('getAutoscale', { object: service.uuid })
    assert.equal(status, 'unconfigured')
  })

  it('takes from the present configuration what is not given', async () => {
    recorded(60, 900)
    await user.api.one('createAutoscale', {
      object: service.uuid,
      body: { master: { name: 'web' }, max_size: 2, policies: [policy(400)] },
    })
    const present = await user.api.one('tryAutoscale', { object: service.uuid, body: {} })
    assert.equal(present.largest_size, 2)
    const fewer = await user.api.one('tryAutoscale', {
      object: service.uuid,
      body: { policies: [policy(950)] },
    })
    assert.equal(fewer.largest_size, 1)
    const least = await user.api.one('tryAutoscale', { object: service.uuid, body: { min_size: 4 } })
    assert.deepEqual([least.smallest_size, least.largest_size], [1, 4])
  })

  it('says what it lacks', async () => {
    assert.match((await failure({})).message, /has no policy to try: give 'policies'/)
    assert.match(
      (await failure({ policies: [policy(1)] })).message,
      /^Nothing of service group .* was recorded/,
    )
    recorded(60, 900)
    assert.match(
      (await failure({ policies: [policy(1)], max_size: 278 })).message,
      /^A trial over 3600 s with 'max_size' 278 is too large: at most 277 instances/,
    )
    assert.match((await failure({ policies: [policy(1)], max_size: 12, last: '1d' })).message, /at most 11 /)
    api.nodes.fails = new NodeUnavailable('away')
    assert.equal(((await failure({ policies: [policy(1)] })) as { error?: number }).error, 10)
  })

  it('refuses what is no policy, as the creation does', async () => {
    const crossed = { name: 'grow', type: 'step', steps: [{ lower_bound: 2, upper_bound: 1, adjustment: 1 }] }
    const body = { policies: [crossed as ReturnType<typeof policy>] }
    const answer = await user.api.attempt('tryAutoscale', { object: service.uuid, body })
    assert.equal(answer.httpStatus, 400)
  })
})
