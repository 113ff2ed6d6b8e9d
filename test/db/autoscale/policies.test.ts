import { strict as assert } from 'node:assert'
import { insertAutoscale, deleteAutoscale, findAutoscale } from '../../../src/db/autoscale/configurations.ts'
import { addPolicies, deletePolicies } from '../../../src/db/autoscale/policies.ts'
import type { AutoscalePolicy } from '../../../src/domain/autoscale/policy.ts'
import { maxPoliciesPerService } from '../../../src/domain/autoscale/steps.ts'
import { serviceRecords } from '../../support/service-records.ts'
import { refusalOf } from '../../support/volume-records.ts'

const policy = (name: string, adjustment = 1): AutoscalePolicy => ({
  name,
  metric: 'requests_per_second',
  adjustmentType: 'exact',
  steps: [{ upperBound: 500, adjustment }],
})
const names = (count: number, prefix = 'p') =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

describe('policies of a service', () => {
  const { database, newUser, wanted, instances } = serviceRecords()

  const scene = async (policies: readonly AutoscalePolicy[] = []) => {
    const user = await newUser()
    const [master] = await instances(user, { name: 'web', service: { made: wanted([443]) } })
    const uuid = master!.serviceUuid!
    const configuration = { warmupMs: 0, cooldownMs: 0, policies, master: { uuid: master!.uuid } }
    const made = await insertAutoscale(database(), {
      userUuid: user.uuid,
      serviceUuid: uuid,
      ...configuration,
    })
    assert.ok(made.ok, JSON.stringify(made))
    const service = { userUuid: user.uuid, uuid, name: 'services-name' }
    const add = (added: readonly AutoscalePolicy[]) => addPolicies(database(), service, added)
    const remove = (removed: readonly string[]) => deletePolicies(database(), service, removed)
    const read = async () =>
      (await findAutoscale(database(), user.uuid, [uuid])).get(uuid)?.policies.map(({ name }) => name)
    return { user, uuid, add, remove, read }
  }

  it('are added behind the present ones, in the order of the request', async () => {
    const { add, read } = await scene([policy('z')])
    assert.deepEqual(await add([policy('b'), policy('a')]), {
      ok: true,
      changes: [{ name: 'b' }, { name: 'a' }],
    })
    assert.deepEqual(await read(), ['z', 'b', 'a'])
  })

  it('have names of their own: a second one is refused, and the first stays as it is', async () => {
    const { user, uuid, add } = await scene([policy('a', 1)])
    const outcome = await add([policy('a', 9), policy('b', 2), policy('b', 9)])
    const taken = (name: string) => ({ name, refusal: { kind: 'policy-taken', name } })
    assert.deepEqual(outcome, { ok: true, changes: [taken('a'), { name: 'b' }, taken('b')] })
    const row = (await findAutoscale(database(), user.uuid, [uuid])).get(uuid)
    assert.deepEqual(row?.policies, [policy('a', 1), policy('b', 2)])
  })

  it('are not more than a service may have', async () => {
    const { add, remove, read } = await scene(names(maxPoliciesPerService - 1).map((name) => policy(name)))
    const refusal = { kind: 'too-many-policies', limit: maxPoliciesPerService }
    assert.deepEqual(await add([policy('last'), policy('more')]), {
      ok: true,
      changes: [{ name: 'last' }, { name: 'more', refusal }],
    })
    await remove(['last'])
    assert.deepEqual(await add([policy('more')]), { ok: true, changes: [{ name: 'more' }] })
    assert.equal((await read())?.length, maxPoliciesPerService)
  })

  it('that are added at the same time are each kept or refused', async () => {
    const { add, remove, read } = await scene([policy('old')])
    await Promise.all([
      ...names(6).map((name) => add([policy(name)])),
      ...names(6).map(() => add([policy('same')])),
      remove(['old']),
    ])
    assert.deepEqual((await read())?.toSorted(), [...names(6), 'same'].toSorted())
    const outcomes = await Promise.all(names(20, 'q').map((name) => add([policy(name)])))
    const added = outcomes.filter((one) => one.ok && one.changes[0]?.refusal === undefined)
    assert.equal(added.length, maxPoliciesPerService - 7)
    assert.equal((await read())?.length, maxPoliciesPerService)
  })

  it('are removed by name, once', async () => {
    const { remove, read } = await scene(['a', 'b', 'c'].map((name) => policy(name)))
    const missing = (name: string) => ({ name, refusal: { kind: 'policy-not-found', name } })
    assert.deepEqual(await remove(['c', 'nope', 'a', 'a']), {
      ok: true,
      changes: [{ name: 'c' }, missing('nope'), { name: 'a' }, missing('a')],
    })
    assert.deepEqual(await read(), ['b'])
  })

  it('are none of a service that is not configured any more', async () => {
    const { user, uuid, add, remove } = await scene([policy('a')])
    assert.ok((await deleteAutoscale(database(), user.uuid, uuid)).ok)
    const refusal = { kind: 'autoscale-not-configured', service: 'services-name' }
    assert.deepEqual(refusalOf(await add([policy('b')])), refusal)
    assert.deepEqual(refusalOf(await remove(['a'])), refusal)
  })
})
