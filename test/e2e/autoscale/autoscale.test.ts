import assert from 'node:assert/strict'
import { isUnknown, viewOf, waitFor } from '../../support/instances.ts'
import {
  always,
  autoscale,
  clonesOf,
  instancesOf,
  publishMaster,
  remove,
  untilSize,
  verifyVirtualMachines,
} from '../../support/autoscaled-service.ts'
import type { AutoscaledService, Policy } from '../../support/autoscaled-service.ts'
import { openPublicNames } from '../../support/public-names.ts'
import type { PublicNames } from '../../support/public-names.ts'
import { roost } from '../../support/roost-command.ts'
import { sharedStack } from '../../support/shared-stack.ts'
import type { Stack } from '../../support/stack.ts'
import { beginLoad, endLoads } from '../../support/steady-load.ts'
import type { LoadClient, SteadyLoad } from '../../support/steady-load.ts'
import { until } from '../../support/until.ts'
import { detailsOfWorkflow } from '../../support/web-ui.ts'

const limitMs = 90_000

/**
 * An idle VM takes 40 millicores under emulation. One that answers requests all the time takes what the
 * machine has left: on a busy machine only 200. How far this policy grows a service depends on that, so it is
 * replaced once it has added an instance.
 */
const byProcessor: Policy = {
  name: 'load',
  type: 'step',
  metric: 'cpu',
  steps: [{ lower_bound: 100, adjustment: 1 }],
}
/**
 * The gateway counts the requests in flight, so this policy decides the same on any machine. Each client of
 * `crowd` has one nearly all the time; three instances have four each. Those of `visitors` are far fewer.
 */
const byCrowd: Policy = {
  name: 'crowd',
  type: 'step',
  metric: 'in_flight',
  steps: [
    { upper_bound: 2, adjustment: -2 },
    { lower_bound: 2, adjustment: 1 },
  ],
}
/**
 * The load that goes on through every change of size. It is so light that one instance is enough for it, and
 * some of its requests open new connections.
 */
const visitors: readonly LoadClient[] = [
  { path: '/?ms=1', pauseMs: 200 },
  { path: '/?ms=1', pauseMs: 400, fresh: true },
  { path: '/?ms=20', pauseMs: 1_500 },
]
const crowd: readonly LoadClient[] = [
  ...Array.from({ length: 8 }, () => ({ path: '/?ms=60', pauseMs: 0 })),
  ...Array.from({ length: 4 }, () => ({ path: '/?ms=60', pauseMs: 0, fresh: true })),
]

describe('autoscale', function () {
  let stack: Stack
  let names: PublicNames
  let service: AutoscaledService | undefined
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
  })
  afterEach(async function () {
    if (this.currentTest?.state === 'failed' && service !== undefined)
      process.stdout.write(await explained(service).catch(String))
    await endLoads()
    await remove(stack, service)
    service = undefined
  })
  after(() => names?.close())

  const explained = async ({ name }: AutoscaledService): Promise<string> =>
    (await roost(stack, 'autoscale', 'explain', name)).stdout
  const exchange = async ({ uuid }: AutoscaledService, next: Policy, before: Policy): Promise<void> => {
    await stack.api.one('addAutoscalePolicies', { owner: uuid, body: next })
    await stack.api.one('deleteAutoscalePolicies', { owner: uuid, object: before.name })
  }
  const usedInstances = async (): Promise<number> => (await stack.api.one('getQuotas')).used.instances
  /** Waits until every instance of `who` has answered a request. */
  const answeredBy = (load: SteadyLoad, who: readonly { readonly name: string }[]): Promise<true> =>
    until('all of them answer', () => who.every(({ name }) => load.answers.has(name)), { limitMs })

  it('gives a service that is under load more instances and takes them back, without a lost request', async () => {
    // The soft limit is so high that no instance reaches it. The load is still spread over all running
    // instances.
    service = await publishMaster(stack, 'grows', {}, { soft_limit: 100 })
    await autoscale(stack, service, { max_size: 3, cooldown_time_ms: 3_000, policies: [byProcessor] })
    assert.equal((await stack.api.one('getServices', { object: service.uuid })).autoscale, true)
    const usedBefore = await usedInstances()
    const visiting = beginLoad(names, service.host, visitors)
    const pressing = beginLoad(names, service.host, crowd)

    await until('it has a clone', async () => (await clonesOf(stack, service!)).length > 0, { limitMs })
    await exchange(service, byCrowd, byProcessor)
    const grown = await untilSize(stack, service, 3)
    verifyVirtualMachines(stack, grown)
    assert.equal(await usedInstances(), usedBefore + 2)
    pressing.forget()
    await answeredBy(pressing, grown)
    const clones = await clonesOf(stack, service)
    assert.equal(clones.length, 2)
    for (const { name } of clones) assert.match(name, /^grows-[a-z0-9]{5}$/)
    const upwards = await explained(service)
    assert.match(upwards, /Went from 1 to 2, added grows-\w{5}: policy load wants 2, because \d+ millicores/)
    for (const { name } of grown) assert.ok(upwards.includes(name), upwards)
    assert.match(await detailsOfWorkflow(stack, `autoscale/${service.uuid}`), /grows/)

    await pressing.end()
    const [left] = await untilSize(stack, service, 1)
    assert.equal(left?.uuid, service.master)
    visiting.forget()
    await answeredBy(visiting, [{ name: 'grows' }])
    await visiting.end()
    assert.deepEqual([...visiting.answers.keys()], ['grows'])
    assert.equal(await usedInstances(), usedBefore)
    const downwards = await explained(service)
    assert.match(downwards, /to 1, gave back .*: policy crowd wants \d, because [\d.]+ requests in flight/)
    for (const { name } of clones) assert.ok(downwards.includes(name), downwards)
  })

  it('also goes by requests in flight and by requests per second, and gives instances back while requests are in flight', async () => {
    const inFlight: Policy = {
      name: 'crowded',
      type: 'step',
      metric: 'in_flight',
      adjustment_type: 'exact',
      steps: [{ lower_bound: 3, adjustment: 2 }],
    }
    const rate: Policy = {
      name: 'hurried',
      type: 'step',
      metric: 'requests_per_second',
      adjustment_type: 'percent',
      steps: [{ lower_bound: 10, adjustment: 100 }],
    }
    service = await publishMaster(stack, 'counted', { image: 'counter' })
    const { host } = service
    await autoscale(stack, service, { max_size: 3, cooldown_time_ms: 5_000, policies: [inFlight] })
    const waiting = beginLoad(
      names,
      host,
      Array.from({ length: 6 }, (_, index) => ({ path: '/slow?ms=700', pauseMs: 0, fresh: index > 3 })),
    )
    await untilSize(stack, service, 2)
    assert.match(await explained(service), /policy crowded wants 2, because [\d.]+ requests in flight/)

    await exchange(service, rate, inFlight)
    const hurrying = beginLoad(
      names,
      host,
      Array.from({ length: 4 }, () => ({ path: '/count', pauseMs: 30 })),
    )
    // The policy wants twice as many, which is four.
    await untilSize(stack, service, 3)
    assert.match(
      await explained(service),
      /policy hurried wants 4, because [\d.]+ requests per second .* max_size allows 3/,
    )

    await exchange(service, always(1), rate)
    await untilSize(stack, service, 1)
    await waiting.end()
    await hurrying.end()
  })

  it('gives clones the cooldown to finish when it is turned off, and starts a master that is stopped', async () => {
    service = await publishMaster(stack, 'ends', { image: 'counter' })
    const { host, master } = service
    const cooldownMs = 8_000
    await autoscale(stack, service, { min_size: 3, cooldown_time_ms: cooldownMs })
    const running = await untilSize(stack, service, 3)
    const ask = async (ms: number) => (await names.get(`https://${host}/slow?ms=${ms}`)).status
    const busyWith = (count: number) =>
      until(
        `each instance has ${count} requests`,
        async () => (await instancesOf(stack, service!)).every(({ nreqs = 0 }) => nreqs >= count),
        { limitMs },
      )
    // Once each instance has had a request, the gateway holds a lease of each and spreads requests that come
    // at the same time.
    await until(
      'each instance has had a request',
      async () => {
        await Promise.all([ask(1_000), ask(1_000), ask(1_000)])
        return (await instancesOf(stack, service!)).every(({ ntotal = 0 }) => ntotal > 0)
      },
      { limitMs },
    )
    // A cut request lasts until the cut and then runs once more from its beginning. Both together stay well
    // below the 30 s that a request may take.
    const longMs = 15_000
    const long = Array.from({ length: 6 }, () => ask(longMs))
    await busyWith(2)
    const short = Array.from({ length: 3 }, () => ask(6_000))
    await busyWith(3)
    const atMs = performance.now()
    await stack.api.one('deleteAutoscale', { object: service.uuid })
    assert.equal((await stack.api.one('getAutoscale', { object: service.uuid })).status, 'unconfigured')
    const cuts = long.map(async (answer) => ({ got: await answer, afterMs: performance.now() - atMs }))
    assert.deepEqual(new Set(await Promise.all(short)), new Set([200]))
    const ends = await Promise.all(cuts)
    // The requests at the clones were cut, but not before the cooldown had passed. The gateway then sent them
    // to the master, where they began again.
    assert.deepEqual(new Set(ends.map(({ got }) => got)), new Set([200]))
    assert.ok(
      ends.filter(({ afterMs }) => afterMs > cooldownMs + longMs - 100).length >= 2,
      JSON.stringify(ends),
    )
    const [left] = await untilSize(stack, service, 1)
    assert.equal(left?.uuid, master)
    for (const { uuid } of running.filter((view) => view.uuid !== master)) {
      assert.ok(await isUnknown(stack.api, uuid))
    }

    await autoscale(stack, service, { cooldown_time_ms: 0 })
    await stack.api.one('stopInstances', { object: master })
    // While the master is stopped, one clone stands in for it, because `min_size` is 1.
    const [standIn] = await until(
      'a clone stands in',
      async () => {
        const clones = await clonesOf(stack, service!)
        return clones.some(({ state }) => state === 'running') && clones
      },
      { limitMs },
    )
    assert.equal((await viewOf(stack.api, master)).state, 'stopped')
    await stack.api.one('deleteAutoscale', { object: service.uuid })
    await waitFor(stack.api, master, 'running')
    const [last] = await untilSize(stack, service, 1)
    assert.equal(last?.uuid, master)
    assert.notEqual(standIn?.uuid, master)
  })
})
