import assert from 'node:assert/strict'
import { always, autoscale, instancesOf, publishMaster, untilSize } from '../support/autoscaled-service.ts'
import { viewOf } from '../support/instances.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'
import {
  publishVersion,
  removeVersions,
  sendTraffic,
  untilPhase,
  version,
} from '../support/versioned-service.ts'

const asRoot = process.getuid?.() === 0
const inTime = { limitMs: 120_000 }

describe('a rollout of', function () {
  let stack: Stack
  let names: PublicNames
  before(async function () {
    if (!asRoot) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
  })
  after(() => names?.close())

  it('replicas replaces each, and goes back from a step in the middle', async () => {
    const { service, host, instances } = await publishVersion(stack, 'several', { replicas: 1 })
    const before = await Promise.all(instances.map((uuid) => viewOf(stack.api, uuid)))
    const traffic = sendTraffic(names, host)
    const body = { env: version.good('two'), canary: [50, 100], bake_s: 600 }
    await stack.api.one('createRollouts', { object: service, body })
    await untilPhase(stack, service, 'baking')
    traffic.forget()
    await until('both versions answer', async () => (traffic.answers['two'] ?? 0) > 40, inTime)
    const { one = 0, two = 0 } = traffic.answers
    assert.ok(Math.abs(one - two) < 20, `${one} to ${two}`)
    await stack.api.one('rollBackServices', { object: service })
    await untilPhase(stack, service, 'returned')

    await stack.api.one('createRollouts', { object: service, body: { ...body, bake_s: 2 } })
    const { phase, reason } = await untilPhase(stack, service, 'kept', 'returned')
    assert.equal(phase, 'kept', reason)
    assert.deepEqual(await traffic.end(), [])
    for (const { name, uuid } of before) assert.notEqual((await viewOf(stack.api, name)).uuid, uuid)
    await removeVersions(stack, service)
  })

  it('a sleeper wakes what it needs, and lets it sleep afterwards', async () => {
    const { service, host, instances } = await publishVersion(stack, 'sleepy', {
      scale_to_zero: { policy: 'on', cooldown_time_ms: 1_000, stateful: true },
    })
    const asleep = async (name: string) =>
      until(`${name} sleeps`, async () => (await viewOf(stack.api, name)).state === 'standby', inTime)
    await asleep('sleepy')
    await stack.api.one('createRollouts', { object: service, body: { env: version.good('two'), bake_s: 2 } })
    const { phase, reason } = await untilPhase(stack, service, 'kept', 'returned')
    assert.equal(phase, 'kept', reason)
    assert.notEqual((await viewOf(stack.api, 'sleepy')).uuid, instances[0])
    await asleep('sleepy')
    const answer = await names.get(`https://${host}/`)
    assert.deepEqual([answer.status, answer.text], [200, 'two\n'])
    await stack.api.one('rollBackServices', { object: service })
    await untilPhase(stack, service, 'returned')
    const again = await names.get(`https://${host}/`)
    assert.deepEqual([again.status, again.text], [200, 'one\n'])
    await removeVersions(stack, service)
  })

  it('a master brings as many clones as there were, and the policy goes on with them', async () => {
    const scaled = await publishMaster(stack, 'scaled', { image: 'hello', env: version.good('one') })
    await autoscale(stack, scaled, { min_size: 2, max_size: 4 })
    await untilSize(stack, scaled, 2)
    const traffic = sendTraffic(names, scaled.host)
    const body = { env: version.good('two'), canary: [50, 100], bake_s: 3 }
    await stack.api.one('createRollouts', { object: scaled.uuid, body })
    const { phase, reason } = await untilPhase(stack, scaled.uuid, 'kept', 'returned')
    assert.equal(phase, 'kept', reason)
    const { uuid: master } = await viewOf(stack.api, 'scaled')
    assert.notEqual(master, scaled.master)
    assert.equal((await stack.api.one('getAutoscale', { object: scaled.uuid })).master?.uuid, master)
    await untilSize(stack, { ...scaled, master }, 2)
    await stack.api.one('addAutoscalePolicies', { owner: scaled.uuid, body: always(3) })
    await untilSize(stack, { ...scaled, master }, 3)
    await stack.api.one('rollBackServices', { object: scaled.uuid })
    await untilPhase(stack, scaled.uuid, 'returned')
    await untilSize(stack, scaled, 3)
    traffic.forget()
    await until('the old version answers', async () => (traffic.answers['one'] ?? 0) > 40, inTime)
    assert.deepEqual(traffic.answers['two'], undefined)
    assert.deepEqual(await traffic.end(), [])
    assert.equal((await instancesOf(stack, scaled)).length, 3)
    await stack.api.one('deleteInstances', { object: scaled.master })
  })

  it('a service goes on after each part was killed', async () => {
    const { service, host } = await publishVersion(stack, 'robust')
    const body = { env: version.good('two'), canary: [50, 100], bake_s: 6 }
    await stack.api.one('createRollouts', { object: service, body })
    await stack.killPart('worker')
    await untilPhase(stack, service, 'baking', 'kept')
    await stack.killPart('api')
    await stack.killPart('agent')
    await stack.killPart('worker')
    const { phase, reason } = await untilPhase(stack, service, 'kept', 'returned')
    assert.equal(phase, 'kept', reason)
    const answer = await names.get(`https://${host}/`)
    assert.deepEqual([answer.status, answer.text], [200, 'two\n'])
    await stack.api.one('rollBackServices', { object: service })
    await stack.killPart('worker')
    await untilPhase(stack, service, 'returned')
    const again = await names.get(`https://${host}/`)
    assert.deepEqual([again.status, again.text], [200, 'one\n'])
    await removeVersions(stack, service)
  })
})
