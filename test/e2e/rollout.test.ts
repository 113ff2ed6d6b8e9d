import assert from 'node:assert/strict'
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
/** Versions whose application ends. It takes the requests with it that it had begun to read or to take. */
const diesOfItself = new Set(['ending', 'leaking'])
const endedUnderWay =
  / 502 The application (closed the connection before its answer|does not accept connections)/

describe('a rollout', function () {
  let stack: Stack
  let names: PublicNames
  before(async function () {
    if (!asRoot) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
  })
  after(() => names?.close())

  it('gives the traffic to a new version in steps, and goes back at a word', async () => {
    const { service, host, instances } = await publishVersion(stack, 'rolled')
    const traffic = sendTraffic(names, host)
    const begun = await stack.api.one('createRollouts', {
      object: service,
      body: { env: version.good('two'), canary: [10, 50, 100], bake_s: 3, keep_s: 600 },
    })
    assert.equal(begun.rollout.phase, 'preparing')
    await untilPhase(stack, service, 'baking')
    const { phase, reason } = await untilPhase(stack, service, 'kept', 'returned')
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
    await untilPhase(stack, service, 'returned')
    console.log(`      back in ${Math.round(performance.now() - beganMs)} ms`)
    traffic.forget()
    await until('the old version answers', async () => (traffic.answers['one'] ?? 0) > 20, inTime)
    assert.equal((await viewOf(stack.api, 'rolled')).uuid, instances[0])
    assert.deepEqual(await traffic.end(), [])
    await removeVersions(stack, service)
  })

  it('goes back by itself from bad versions, with a reason that names what they did', async () => {
    const bad: readonly (readonly [string, object, RegExp])[] = [
      ['silent', version.silent, /was not healthy within 45 s: nothing listens on port 8080$/],
      ['refusing', version.refusing, /requests to the new version failed/],
      ['ending', version.ending(12), /failed: its application ended with exit code 3$/],
      [
        'leaking',
        version.leaking(24),
        /failed: its application was ended, because the guest ran out of memory$/,
      ],
    ]
    await Promise.all(
      bad.map(async ([name, env, expected]) => {
        const { service, host, instances } = await publishVersion(stack, `not-${name}`)
        const traffic = sendTraffic(names, host, { perSecond: 10 })
        await stack.api.one('createRollouts', {
          object: service,
          body: { env: env as Record<string, string>, canary: [20, 100], bake_s: 60, check: { limit_s: 45 } },
        })
        const { reason } = await untilPhase(stack, service, 'returned')
        assert.match(String(reason), expected)
        traffic.forget()
        await until('the old version answers', async () => (traffic.answers['one'] ?? 0) > 10, inTime)
        const failed = await traffic.end()
        const lost = failed.filter((one) => !(diesOfItself.has(name) && endedUnderWay.test(one)))
        // A version that answers 500 is noticed by its answers.
        if (name !== 'refusing') assert.deepEqual(lost, [], name)
        assert.deepEqual(traffic.answers['bad'], undefined)
        const { instances: left } = await stack.api.one('getServices', { object: service })
        assert.ok(left?.some(({ uuid }) => uuid === instances[0]))
        await removeVersions(stack, service)
      }),
    )
  })

  it('hands a volume over while requests wait, forwards and back', async () => {
    const { service, host } = await publishVersion(stack, 'keeping', {
      volumes: [{ size_mb: 64, at: '/data' }],
    })
    const traffic = sendTraffic(names, host)
    const body = { env: version.good('two'), bake_s: 2, keep_s: 600 }
    await stack.api.one('createRollouts', { object: service, body })
    const { phase, reason } = await untilPhase(stack, service, 'kept', 'returned')
    assert.equal(phase, 'kept', reason)
    const { volumes } = await viewOf(stack.api, 'keeping')
    assert.equal(volumes?.length, 1)
    await until('the new version answers', async () => (traffic.answers['two'] ?? 0) > 20, inTime)
    await stack.api.one('rollBackServices', { object: service })
    await untilPhase(stack, service, 'returned')
    traffic.forget()
    await until('the old version answers', async () => (traffic.answers['one'] ?? 0) > 20, inTime)
    assert.deepEqual(await traffic.end(), [])
    assert.deepEqual((await viewOf(stack.api, 'keeping')).volumes, volumes)
    await removeVersions(stack, service)
  })
})
