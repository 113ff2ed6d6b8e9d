import assert from 'node:assert/strict'
import {
  autoscale,
  clonesOf,
  instancesOf,
  publishMaster,
  remove,
  untilSize,
  verifyVirtualMachines,
} from '../../support/autoscaled-service.ts'
import type { AutoscaledService, Policy } from '../../support/autoscaled-service.ts'
import { isUnknown, viewOf } from '../../support/instances.ts'
import { virtualMachinesOf } from '../../support/processes.ts'
import { openPublicNames } from '../../support/public-names.ts'
import type { PublicNames } from '../../support/public-names.ts'
import { roost } from '../../support/roost-command.ts'
import { sharedStack } from '../../support/shared-stack.ts'
import type { Stack } from '../../support/stack.ts'
import { beginLoad, endLoads } from '../../support/steady-load.ts'
import { until } from '../../support/until.ts'

const limitMs = 90_000

describe('autoscale, when something comes in between', function () {
  let stack: Stack
  let names: PublicNames
  let service: AutoscaledService | undefined
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
  })
  afterEach(async () => {
    await endLoads()
    await remove(stack, service)
    service = undefined
  })
  after(() => names?.close())

  const firstClone = (of: AutoscaledService) =>
    until('it has a clone', async () => (await clonesOf(stack, of))[0], { limitMs })

  it('leaves only the service when its master is deleted while it grows', async () => {
    service = await publishMaster(stack, 'beheaded')
    await autoscale(stack, service, { min_size: 3 })
    await firstClone(service)
    const seen = await instancesOf(stack, service)
    await stack.api.one('deleteInstances', { object: service.master })
    assert.equal((await stack.api.one('getAutoscale', { object: service.uuid })).status, 'unconfigured')
    const view = await stack.api.one('getServices', { object: service.uuid })
    assert.deepEqual(view.instances, [])
    assert.equal(view.autoscale, false)
    assert.equal(view.domains?.[0]?.fqdn, service.host)
    for (const { uuid } of seen) assert.ok(await isUnknown(stack.api, uuid))
    await until('no VM is left of it', () => seen.every(({ uuid }) => virtualMachinesOf(uuid).length === 0), {
      limitMs,
    })
    // The service still has its domain, but no instance is behind it.
    assert.equal((await names.get(`https://${service.host}/healthz`)).status, 404)
    // The master's name is free again, and the service can be autoscaled again.
    const { uuid: next } = await stack.api.one('createInstances', {
      body: { name: 'beheaded', image: 'busy', service_group: { uuid: service.uuid }, autostart: true },
    })
    service = { ...service, master: next }
    await autoscale(stack, service, { min_size: 2 })
    verifyVirtualMachines(stack, await untilSize(stack, service, 2))
  })

  it('replaces a clone whose VM is killed while it grows, and lets one stand in for a master that stopped', async () => {
    service = await publishMaster(stack, 'shot-at')
    await autoscale(stack, service, { min_size: 3 })
    const clone = await firstClone(service)
    const [machine] = await until(
      'it has a VM',
      () => {
        const machines = virtualMachinesOf(clone.uuid)
        return machines.length > 0 && machines
      },
      { limitMs },
    )
    process.kill(machine!.pid, 'SIGKILL')
    const all = await untilSize(stack, service, 3)
    verifyVirtualMachines(stack, all)
    await answeredByAll(service, all)

    for (const { pid } of virtualMachinesOf(service.master)) process.kill(pid, 'SIGKILL')
    const running = await until(
      'three run without the master',
      async () => {
        const views = await instancesOf(stack, service!)
        const up = views.filter(({ state }) => state === 'running')
        return views.length === 4 && up.length === 3 && up
      },
      { limitMs },
    )
    assert.ok(running.every(({ uuid }) => uuid !== service?.master))
    assert.equal((await viewOf(stack.api, service.master)).state, 'stopped')
    await answeredByAll(service, running)
    await stack.api.one('startInstances', { object: service.master })
    const again = await untilSize(stack, service, 3)
    assert.ok(again.some(({ uuid }) => uuid === service?.master))
  })

  it('lets clones sleep and wake, and gives them back from their sleep', async () => {
    const crowded: Policy = {
      name: 'crowded',
      type: 'step',
      metric: 'in_flight',
      steps: [
        { upper_bound: 1, adjustment: -1 },
        { lower_bound: 1, upper_bound: 2, adjustment: 0 },
        { lower_bound: 2, adjustment: 1 },
      ],
    }
    service = await publishMaster(stack, 'drowsy', {
      image: 'counter',
      scale_to_zero: { policy: 'on', cooldown_time_ms: 500, stateful: true },
    })
    const { host } = service
    await autoscale(stack, service, { min_size: 2, max_size: 3, policies: [crowded] })
    const [first] = await untilSize(stack, service, 2, { state: 'standby' }).then((views) =>
      views.filter(({ clone_of: from }) => from !== undefined),
    )
    assert.equal(first?.scale_to_zero?.stateful, true)
    const load = beginLoad(
      names,
      host,
      Array.from({ length: 6 }, () => ({ path: '/slow?ms=700', pauseMs: 0 })),
    )
    await untilSize(stack, service, 3)
    await load.end()
    const left = await untilSize(stack, service, 2, { state: 'standby' })
    assert.ok(left.some(({ uuid }) => uuid === service?.master))
    // The soft limit is 1, so two requests at the same time wake an instance each.
    const answers = await Promise.all([1, 2].map(() => names.get(`https://${host}/slow?ms=1500`)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    for (const { uuid, start_count: before = 0 } of left) {
      await until('it woke', async () => ((await viewOf(stack.api, uuid)).start_count ?? 0) > before, {
        limitMs,
      })
    }
    assert.match((await roost(stack, 'autoscale', 'explain', service.name)).stdout, /crowded/)
  })

  async function answeredByAll(
    of: AutoscaledService,
    who: readonly { readonly name: string }[],
  ): Promise<void> {
    // There are as many requests at the same time as instances. Fewer would all go to the instances that the
    // gateway has at hand.
    const load = beginLoad(
      names,
      of.host,
      who.map(() => ({ path: '/?ms=20', pauseMs: 0 })),
    )
    await until('all of them answer', () => who.every(({ name }) => load.answers.has(name)), { limitMs })
    await load.end()
  }
})
