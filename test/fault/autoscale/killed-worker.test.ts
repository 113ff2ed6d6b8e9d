import assert from 'node:assert/strict'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { scaleInSettleMs } from '../../../src/domain/autoscale/shrinking.ts'
import {
  always,
  autoscale,
  instancesOf,
  publishMaster,
  remove,
  untilSize,
  verifyVirtualMachines,
} from '../../support/autoscaled-service.ts'
import type { AutoscaledService, Policy } from '../../support/autoscaled-service.ts'
import { virtualMachinesByInstance } from '../../support/processes.ts'
import { openPublicNames } from '../../support/public-names.ts'
import type { PublicNames } from '../../support/public-names.ts'
import { sharedStack } from '../../support/shared-stack.ts'
import { openStackInside } from '../../support/stack-inside.ts'
import type { StackInside } from '../../support/stack-inside.ts'
import type { Stack } from '../../support/stack.ts'
import { beginLoad, endLoads } from '../../support/steady-load.ts'
import { until } from '../../support/until.ts'
import { watchVirtualMachines } from '../../support/virtual-machine-watch.ts'
import type { VirtualMachineWatch } from '../../support/virtual-machine-watch.ts'
import { readRows } from '../../support/rows.ts'

const limitMs = 90_000
/** After this time the host is at work on the new instances. */
const hostAtWorkMs = 500
/** Longer than it takes to give back an instance whose load is known to be low. */
const silenceMs = scaleInSettleMs + 5_000

describe('autoscale, over kill -9', function () {
  let stack: Stack
  let inside: StackInside
  let names: PublicNames
  let watch: VirtualMachineWatch
  let service: AutoscaledService | undefined
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
    inside = await openStackInside(stack)
    names = openPublicNames(stack)
    watch = watchVirtualMachines(stack.dataDir)
  })
  afterEach(async () => {
    await endLoads()
    await remove(stack, service)
    service = undefined
  })
  after(async () => {
    await watch?.close()
    await names?.close()
    await inside?.close()
  })

  const clones = async (master: string, condition: string): Promise<number> => {
    const [row] = await readRows<{ count: number }>(inside.database, {
      text: `select count(*)::int as count from instances where clone_of = $1 and deleted_at is null and ${condition}`,
      values: [master],
    })
    return row?.count ?? 0
  }
  /**
   * Asks the database without pauses. With pauses it would see a row later, perhaps after the whole change.
   */
  const untilRows = async (look: () => Promise<boolean>): Promise<void> => {
    const deadlineMs = performance.now() + limitMs
    while (!(await look())) {
      assert.ok(performance.now() < deadlineMs, 'no row was written')
      await turn()
    }
  }
  const want = async (of: AutoscaledService, size: number, before?: number): Promise<void> => {
    await stack.api.one('addAutoscalePolicies', { owner: of.uuid, body: always(size) })
    if (before !== undefined)
      await stack.api.one('deleteAutoscalePolicies', { owner: of.uuid, object: always(before).name })
  }
  const verify = async (of: AutoscaledService, size: number): Promise<void> => {
    const views = await untilSize(stack, of, size)
    verifyVirtualMachines(stack, views)
    watch.verify()
  }

  it('of the worker in the middle of a change: the decided size is reached, and later changes work as well', async () => {
    service = await publishMaster(stack, 'interrupted')
    const { master } = service
    await autoscale(stack, service, { max_size: 4, cooldown_time_ms: 500 })
    await want(service, 4)
    await untilRows(async () => (await clones(master, 'retired_at is null')) > 0)
    await stack.killPart('worker')
    await delay(hostAtWorkMs)
    await stack.killPart('worker')
    await verify(service, 4)

    await want(service, 1, 4)
    await untilRows(async () => (await clones(master, 'retired_at is not null')) > 0)
    await stack.killPart('worker')
    await verify(service, 1)

    await want(service, 2, 1)
    await verify(service, 2)
    await stack.api.one('deleteAutoscale', { object: service.uuid })
    await stack.killPart('worker')
    await verify(service, 1)
    // No instance left a VM behind: every VM that is left belongs to a known instance.
    const [left] = await instancesOf(stack, service)
    assert.equal(left?.uuid, master)
    const known = await knownInstances()
    for (const uuid of virtualMachinesByInstance(stack.dataDir).keys())
      assert.ok(known.has(uuid), `a VM of ${uuid}`)
  })

  it('of the agent, or its silence: no instance is given back while loads are unknown', async () => {
    // The policy goes by requests in flight and not by processor time, because the processor time of an
    // instance depends on what else the machine does.
    const quiet: Policy = {
      name: 'quiet',
      type: 'step',
      metric: 'in_flight',
      steps: [
        { upper_bound: 1, adjustment: -1 },
        { lower_bound: 1, upper_bound: 2, adjustment: 0 },
        { lower_bound: 2, adjustment: 1 },
      ],
    }
    service = await publishMaster(stack, 'unheard')
    await autoscale(stack, service, { max_size: 2, policies: [quiet] })
    const load = beginLoad(
      names,
      service.host,
      Array.from({ length: 3 }, () => ({ path: '/?ms=60', pauseMs: 0 })),
    )
    const before = (await untilSize(stack, service, 2)).map(({ uuid }) => uuid)
    const { master } = service
    const unchanged = async (): Promise<void> => {
      const now = (await instancesOf(stack, service!)).map(({ uuid }) => uuid)
      assert.deepEqual(now, before)
      assert.equal(await clones(master, 'retired_at is not null'), 0)
    }
    const agent = stack.pidOf('agent')
    process.kill(agent, 'SIGSTOP')
    try {
      await delay(silenceMs)
    } finally {
      process.kill(agent, 'SIGCONT')
    }
    await unchanged()
    await stack.killPart('agent')
    load.forget()
    await until('it is asked again', () => load.answers.size > 0, { limitMs })
    await unchanged()
    // The host was silent for so long that requests may have been refused. This test is not about them.
    await load.end().catch(() => undefined)
    watch.verify()
  })

  async function knownInstances(): Promise<ReadonlySet<string>> {
    const rows = await readRows<{ uuid: string }>(inside.database, {
      text: 'select uuid from instances where deleted_at is null',
    })
    return new Set(rows.map(({ uuid }) => uuid))
  }
})
