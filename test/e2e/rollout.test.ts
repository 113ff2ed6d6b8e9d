import assert from 'node:assert/strict'
import { viewOf } from '../support/instances.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'
import { publishVersion, sendTraffic, version } from '../support/versioned-service.ts'

const asRoot = process.getuid?.() === 0
const inTime = { limitMs: 120_000 }

describe('a rollout', function () {
  let stack: Stack
  let names: PublicNames
  before(async function () {
    if (!asRoot) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
  })
  after(() => names?.close())

  const newest = async (service: string) => {
    const { rollouts } = await stack.api.one('getRollouts', { object: service })
    return rollouts[0]!
  }
  const untilPhase = async (service: string, ...phases: readonly string[]) =>
    until(
      `its phase is ${phases.join(' or ')}`,
      async () => {
        const rollout = await newest(service)
        return phases.includes(rollout.phase) && rollout
      },
      inTime,
    )

  it('gives the traffic to a new version in steps, and goes back at a word', async () => {
    const { service, host, instances } = await publishVersion(stack, 'rolled')
    const traffic = sendTraffic(names, host)
    const begun = await stack.api.one('createRollouts', {
      object: service,
      body: { env: version.good('two'), canary: [10, 50, 100], bake_s: 3, keep_s: 600 },
    })
    assert.equal(begun.rollout.phase, 'preparing')
    await untilPhase(service, 'baking')
    const { phase, reason } = await untilPhase(service, 'kept', 'returned')
    assert.equal(phase, 'kept', reason)
    traffic.forget()
    await until('the new version answers', async () => (traffic.answers['two'] ?? 0) > 20, inTime)
    const now = await viewOf(stack.api, 'rolled')
    assert.notEqual(now.uuid, instances[0], 'the name is that of the new instance')
    const old = await until(
      'the old version is stopped',
      async () => {
        const view = await viewOf(stack.api, instances[0]!)
        return view.state === 'stopped' && view
      },
      inTime,
    )
    assert.equal(old.service_group, undefined)
    const beganMs = performance.now()
    await stack.api.one('rollBackServices', { object: service })
    await untilPhase(service, 'returned')
    console.log(`      back in ${Math.round(performance.now() - beganMs)} ms`)
    traffic.forget()
    await until('the old version answers', async () => (traffic.answers['one'] ?? 0) > 20, inTime)
    assert.equal((await viewOf(stack.api, 'rolled')).uuid, instances[0])
    assert.deepEqual(await traffic.end(), [])
  })
})
