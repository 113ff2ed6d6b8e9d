import { strict as assert } from 'node:assert'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'

describe('policies of autoscale', () => {
  let api: TestApi
  let user: TestUser
  let owner: string
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    user = await api.addUser()
    const { uuid, service_group } = await user.api.one('createInstances', {
      body: { image: 'hello', name: 'web', service_group: { services: [{ port: 443 }] } },
    })
    owner = service_group!.uuid
    await user.api.one('createAutoscale', { object: owner, body: { master: { uuid } } })
  })

  const steps = [
    { upper_bound: 200, adjustment: -1 },
    { lower_bound: 200, upper_bound: 600, adjustment: 0 },
  ]
  const scale = { name: 'scale', type: 'step', steps: [...steps, { lower_bound: 600, adjustment: 2 }] }
  const add = (body: unknown) => user.api.attempt('addAutoscalePolicies', { owner, body })
  const names = async () => (await user.api.call('getAutoscalePolicies', { owner })).map(({ name }) => name)
  /** The messages with which a policy is refused: `scale` with the given changes. */
  const wrong = async (policy: object) => {
    const answer = await add({ ...scale, ...policy })
    assert.deepEqual([answer.httpStatus, answer.entries], [400, []], JSON.stringify(answer))
    return answer.errors.map(({ message }) => message)
  }
  /** The same for a policy with these steps, each from one bound to another. */
  const wrongSteps = (...bounds: readonly (readonly [lower: number | null, upper: number | null])[]) =>
    wrong({
      steps: bounds.map(([lower_bound, upper_bound]) => ({ lower_bound, upper_bound, adjustment: 1 })),
    })

  it('are added, shown in full, and removed by name', async () => {
    assert.deepEqual((await add(scale)).entries, [{ status: 'success', name: 'scale' }])
    const shown = {
      status: 'success',
      name: 'scale',
      type: 'step',
      enabled: true,
      metric: 'cpu',
      adjustment_type: 'change',
      steps: scale.steps,
    }
    assert.deepEqual(await user.api.call('getAutoscalePolicies', { owner }), [shown])
    assert.deepEqual(await user.api.one('getAutoscalePolicies', { owner, object: 'Scale' }), shown)
    const { policies } = await user.api.one('getAutoscale', { object: owner })
    const { status: _status, ...nested } = shown
    assert.deepEqual(policies, [nested])
    const deleted = await user.api.one('deleteAutoscalePolicies', { owner, object: 'scale' })
    assert.deepEqual(deleted, { status: 'success', name: 'scale' })
    assert.deepEqual(await names(), [])
    assert.deepEqual((await user.api.one('getAutoscale', { object: owner })).policies, [])
  })

  it('have bounds that are null or absent where a step is open, and lack them in answers', async () => {
    await add([
      {
        name: 'null',
        type: 'step',
        steps: [
          { lower_bound: null, upper_bound: 0, adjustment: -1 },
          { lower_bound: 0, upper_bound: null, adjustment: 1 },
        ],
      },
      { name: 'absent', type: 'step', steps: [{ upper_bound: 7, adjustment: 0 }] },
    ])
    const shown = await user.api.call('getAutoscalePolicies', { owner })
    assert.deepEqual(
      shown.map((policy) => policy.steps),
      [
        [
          { upper_bound: 0, adjustment: -1 },
          { lower_bound: 0, adjustment: 1 },
        ],
        [{ upper_bound: 7, adjustment: 0 }],
      ],
    )
  })

  it('have every metric and adjustment type, and `absolute` for `exact`', async () => {
    const one = [{ lower_bound: 1, adjustment: 1 }]
    for (const metric of ['cpu', 'in_flight', 'requests_per_second']) {
      await add({ name: metric.replaceAll('_', '-'), type: 'step', metric, steps: one })
    }
    for (const adjustment_type of ['change', 'exact', 'percent', 'absolute']) {
      await add({ name: adjustment_type, type: 'step', adjustment_type, steps: one })
    }
    const shown = await user.api.call('getAutoscalePolicies', { owner })
    assert.deepEqual(
      shown.map((policy) => `${policy.name} ${policy.metric} ${policy.adjustment_type}`),
      [
        'cpu cpu change',
        'in-flight in_flight change',
        'requests-per-second requests_per_second change',
        'change cpu change',
        'exact cpu exact',
        'percent cpu percent',
        'absolute cpu exact',
      ],
    )
  })

  it('are added as far as they can be, each with an entry of its own', async () => {
    const answer = await add([scale, { ...scale, name: 'SCALE' }, { ...scale, name: 'other' }])
    assert.deepEqual(answer.entries, [
      { status: 'success', name: 'scale' },
      {
        status: 'error',
        name: 'scale',
        error: 23,
        message: "Autoscale policy with name 'scale' already exists",
      },
      { status: 'success', name: 'other' },
    ])
    const many = Array.from({ length: 15 }, (_, index) => ({ ...scale, name: `p${index}` }))
    const last = (await add(many)).entries.at(-1)
    const message = 'Too many autoscale policies: at most 16 per service group; delete one first'
    assert.deepEqual(last, { status: 'error', name: 'p14', error: 5, message })
    assert.equal((await names()).length, 16)
  })

  it('are named by the path, by a body or by a list in the query', async () => {
    await add(['a', 'b', 'c', 'd', 'list'].map((name) => ({ ...scale, name })))
    const read = async (input: object) =>
      (await user.api.call('getAutoscalePolicies', { owner, ...input })).map(({ name }) => name)
    assert.deepEqual(await read({ query: { name: 'c,a' } }), ['c', 'a'])
    assert.deepEqual(await read({ body: { name: 'B' } }), ['b'])
    assert.deepEqual(await read({ body: [{ name: 'd' }, { name: 'a' }] }), ['d', 'a'])
    assert.deepEqual(await read({ object: 'list' }), ['list'])
    assert.deepEqual(await read({ query: { count: '2', from: 'b' } }), ['c', 'd'])
    assert.deepEqual(await read({ query: { count: '2', from: '3' } }), ['d', 'list'])
    await user.api.call('deleteAutoscalePolicies', { owner, query: { name: 'a,b' } })
    await user.api.call('deleteAutoscalePolicies', { owner, body: [{ name: 'c' }] })
    await user.api.call('deleteAutoscalePolicies', { owner, body: { name: 'd' } })
    assert.deepEqual(await names(), ['list'])
    const beyond = await user.api.attempt('getAutoscalePolicies', { owner, query: { from: 'gone' } })
    assert.equal(beyond.httpStatus, 400)
  })

  it('are found by the name of their service as well', async () => {
    const { name } = await user.api.one('getServices', { object: owner })
    await user.api.one('addAutoscalePolicies', { owner: name.toUpperCase(), body: scale })
    assert.deepEqual(await names(), ['scale'])
  })

  it('call for a workflow with each change, and are changed also if that call fails', async () => {
    const told = () => api.autoscaleControl.calls.filter((call) => call === `ensureStarted ${owner}`).length
    await add(scale)
    assert.equal(told(), 1)
    api.autoscaleControl.faults.isAway = true
    try {
      await user.api.one('deleteAutoscalePolicies', { owner, object: 'scale' })
    } finally {
      delete api.autoscaleControl.faults.isAway
    }
    assert.equal(told(), 2)
    assert.deepEqual(await names(), [])
  })

  it('that are missing are a failed entry, but a status of one missing policy fails as a whole', async () => {
    await add(scale)
    const message = "No autoscale policy with name 'nope'"
    const status = await user.api.attempt('getAutoscalePolicies', { owner, object: 'nope' })
    assert.deepEqual([status.httpStatus, status.errors], [404, [{ status: 404, error: 8, message }]])
    const deleted = await user.api.attempt('deleteAutoscalePolicies', { owner, object: 'nope' })
    assert.deepEqual(deleted.entries, [{ status: 'error', name: 'nope', error: 8, message }])
    for (const id of ['getAutoscalePolicies', 'deleteAutoscalePolicies'] as const) {
      const listed = await user.api.attempt(id, { owner, query: { name: 'nope,scale' } })
      const [missing, found] = listed.entries
      assert.deepEqual(missing, { status: 'error', name: 'nope', error: 8, message })
      assert.partialDeepStrictEqual(found, { status: 'success', name: 'scale' })
    }
  })

  it('are refused for a service that does not exist or is not configured', async () => {
    const other = await user.api.one('createServices', { body: { name: 'other' } })
    for (const [id, input] of [
      ['addAutoscalePolicies', { body: scale }],
      ['getAutoscalePolicies', {}],
      ['getAutoscalePolicies', { object: 'scale' }],
      ['deleteAutoscalePolicies', { object: 'scale' }],
      ['deleteAutoscalePolicies', { body: { name: 'scale' } }],
    ] as const) {
      const missing = await user.api.attempt(id, { owner: 'nowhere', ...input })
      const noService = "No service group with name 'nowhere'"
      assert.deepEqual(missing.errors, [{ status: 404, error: 8, message: noService }])
      const message = "Autoscale is not configured for service group 'other'"
      for (const object of [other.uuid, 'other']) {
        const unconfigured = await user.api.attempt(id, { owner: object, ...input })
        assert.deepEqual(unconfigured.errors, [{ status: 400, error: 27, message }])
      }
      const malformed = await user.api.attempt(id, { owner: 'a--b', ...input })
      assert.match(malformed.errors[0]?.message ?? '', /^Invalid name 'a--b'/)
    }
  })

  it('are not deleted by a request that names none', async () => {
    await add(scale)
    const answer = await user.api.attempt('deleteAutoscalePolicies', { owner })
    assert.deepEqual(
      answer.errors.map(({ error, message }) => [error, message]),
      [[13, "Missing identifier in autoscale policy deletion arguments: give 'name'"]],
    )
    assert.deepEqual(await names(), ['scale'])
  })

  describe('that break a rule are refused with what is wrong', () => {
    it('with bounds: crossed, both open, out of range, not whole', async () => {
      assert.deepEqual(await wrongSteps([200, 200]), [
        "Value of 'lower_bound' of steps[0] in policy 'scale' must be below that of 'upper_bound': 200 is not below 200",
      ])
      assert.deepEqual(await wrongSteps([null, null]), [
        "steps[0] in policy 'scale' must have 'lower_bound', 'upper_bound' or both: it is open on both sides",
      ])
      assert.deepEqual(await wrongSteps([-1, 1_000_000_001]), [
        "Value of 'lower_bound' of steps[0] in policy 'scale' must be in the range 0 to 1000000000: -1 is not",
        "Value of 'upper_bound' of steps[0] in policy 'scale' must be in the range 0 to 1000000000: 1000000001 is not",
      ])
      const place = 'autoscale policy arguments'
      assert.deepEqual(await wrongSteps([1.5, null]), [
        `'steps[0].lower_bound' in ${place} has type 'number', but expected 'integer' or 'null'`,
      ])
      assert.deepEqual(await wrong({ steps: [{ lower_bound: 1 }] }), [
        `Missing 'steps[0].adjustment' in ${place}`,
      ])
      assert.deepEqual(await wrong({ steps: [{ lower_bound: 1, adjustment: null }] }), [
        `'steps[0].adjustment' in ${place} has type 'null', but expected 'integer'`,
      ])
    })

    it('with the order of steps: unsorted, overlapping, with a gap', async () => {
      assert.deepEqual(await wrongSteps([600, null], [200, 600]), [
        "Steps in policy 'scale' must be sorted ascending: steps[1] begins at 200, but steps[0] before it begins at 600",
      ])
      assert.deepEqual(await wrongSteps([200, 600], [null, 200]), [
        "Steps in policy 'scale' must be sorted ascending: steps[1] has no lower bound, but steps[0] before it begins at 200",
      ])
      assert.deepEqual(await wrongSteps([0, 300], [200, 500]), [
        "Steps in policy 'scale' must not overlap: both steps[0] and steps[1] apply from 200 to 300",
      ])
      assert.deepEqual(await wrongSteps([0, null], [200, null]), [
        "Steps in policy 'scale' must not overlap: both steps[0] and steps[1] apply from 200 on",
      ])
      assert.deepEqual(await wrongSteps([null, 200], [null, 300]), [
        "Steps in policy 'scale' must not overlap: both steps[0] and steps[1] apply below 200",
      ])
      assert.deepEqual(await wrongSteps([0, 200], [300, null]), [
        "Steps in policy 'scale' must leave no gap: between steps[0] and steps[1] none applies from 200 to 300",
      ])
    })

    it('with the number of steps and with adjustments', async () => {
      assert.deepEqual(await wrong({ steps: [] }), ["'steps' in policy 'scale' must have at least one step"])
      const many = Array.from({ length: 17 }, (_, index) => ({
        lower_bound: index,
        upper_bound: index + 1,
        adjustment: 1,
      }))
      const [message] = await wrong({ steps: many })
      assert.match(message ?? '', /^Value of 'steps'.* has too many elements: 17, but at most 16$/)
      const exact = { adjustment_type: 'absolute', steps: [{ lower_bound: 0, adjustment: -1 }] }
      assert.deepEqual(await wrong(exact), [
        "Value of 'adjustment' of steps[0] in policy 'scale' must be at least 0 with the adjustment type 'exact': -1 is not",
      ])
      assert.deepEqual(await wrong({ steps: [{ lower_bound: 0, adjustment: 1_000_001 }] }), [
        "Value of 'adjustment' of steps[0] in policy 'scale' must be in the range -1000000 to 1000000: 1000001 is not",
      ])
    })

    it('with names and words', async () => {
      assert.deepEqual(await wrong({ name: 'a'.repeat(32) }), [
        `Value of 'name' in policy '${'a'.repeat(32)}' is too long: 32 characters, but at most 31`,
      ])
      assert.match((await wrong({ name: '1st' }))[0] ?? '', /^Invalid name '1st'/)
      assert.deepEqual(await wrong({ metric: 'ram' }), [
        "'ram' is not a valid value for 'metric'; valid: cpu, in_flight, requests_per_second",
      ])
      assert.deepEqual(await wrong({ adjustment_type: 'double' }), [
        "'double' is not a valid value for 'adjustment_type'; valid: change, exact, percent, absolute",
      ])
      assert.deepEqual(await wrong({ type: 'target' }), [
        "'target' is not a valid value for 'type'; valid: step",
      ])
      assert.deepEqual(await wrong({ type: undefined }), ["Missing 'type' in autoscale policy arguments"])
      assert.deepEqual(await wrong({ name: '' }), ["Missing 'name' in autoscale policy arguments"])
    })

    it('all at once, by policy, also within a configuration, and nothing is added', async () => {
      const crossed = {
        ...scale,
        name: 'crossed',
        steps: [{ lower_bound: 5, upper_bound: 3, adjustment: 1 }],
      }
      const open = { ...scale, name: 'open', steps: [{ adjustment: 1 }] }
      const messages = [
        "Value of 'lower_bound' of steps[0] in policy 'crossed' must be below that of 'upper_bound': 5 is not below 3",
        "steps[0] in policy 'open' must have 'lower_bound', 'upper_bound' or both: it is open on both sides",
      ]
      const answer = await add([crossed, scale, open])
      assert.deepEqual(
        answer.errors.map(({ message }) => message),
        messages,
      )
      assert.deepEqual(await names(), [])
      await user.api.one('deleteAutoscale', { object: owner })
      const body = { master: { name: 'web' }, policies: [crossed, open] }
      const created = await user.api.attempt('createAutoscale', { object: owner, body })
      assert.deepEqual(
        created.errors.map(({ message }) => message),
        messages,
      )
    })
  })
})
