import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { StandByResult } from '../../../src/domain/instance/host-work.ts'
import { leaseKeptMs } from '../../../src/domain/standby/lease-protocol.ts'
import { dieEverywhere } from '../agent/death.ts'
import { pass, seen, TestGateway } from './gateway.ts'
import { uuid } from '../agent/machine.ts'
import type { LiveAgent, Machine } from '../agent/machine.ts'

const boot = { instanceUuid: uuid, boot: 1 }
const policies = {
  cold: { policy: 'on', cooldownMs: 1_000, stateful: false },
  stateful: { policy: 'idle', cooldownMs: 1_000, stateful: true },
} as const
type Kind = keyof typeof policies

async function start(machine: Machine, kind: Kind): Promise<void> {
  machine.scalesToZero(policies[kind])
  const live = await machine.readyAgent()
  await live.agent.start(boot)
  live.kill()
}

async function sleep(machine: Machine, kind: Kind): Promise<void> {
  await start(machine, kind)
  const live = await machine.readyAgent()
  assert.equal((await standBy(machine, live, kind)).slept, true)
  live.kill()
}

/**
 * Orders the standby as the workflow does: as soon as there is an idle period, and again while it is
 * refused.
 */
async function standBy(machine: Machine, live: LiveAgent, kind: Kind): Promise<StandByResult> {
  const order = { ...boot, permit: 2, stateful: kind === 'stateful', graceMs: 1_000 }
  for (let tries = 0; tries < 5; tries += 1) {
    pass(machine, live, leaseKeptMs)
    const epoch = live.agent.entries.get(uuid)?.hostLease.idle?.epoch ?? 0
    const result = await live.agent.standBy({ ...order, epoch })
    if (result.slept) return result
  }
  throw new Error('it never slept')
}

/** Asserts that there is exactly one of the two: a VM or a permit. */
function isOneThing(machine: Machine, last: LiveAgent): void {
  const permit = last.agent.leases.hostLease(uuid)?.permit
  const phase = last.agent.entries.get(uuid)?.hostLease.phase
  const running = machine.host.running(uuid)
  assert.ok(
    (running === 1 && permit === undefined && phase === 'running') ||
      (running === 0 && permit === 2 && phase === 'asleep'),
    `${String(running)} VMs, permit ${String(permit)}, ${String(phase)}`,
  )
}

describe('an agent that is killed anywhere', function () {
  // Each test kills an agent at every step of one task, one step after the other, and takes 30 s on a quiet
  // machine.
  this.timeout(300_000)

  for (const kind of ['cold', 'stateful'] as const) {
    it(`on the way to standby (${kind}): it sleeps with its permit, and its workflow hears the truth`, async () => {
      const deaths = await dieEverywhere({
        prepare: async (machine) => {
          await start(machine, kind)
        },
        script: async (live, machine) => {
          const result = await standBy(machine, live, kind)
          assert.ok(result.slept)
          assert.equal(result.exit?.signal, kind === 'cold' ? 15 : undefined)
          assert.equal(result.snapshotUuid !== undefined, kind === 'stateful')
        },
        check: async (machine, last) => {
          isOneThing(machine, last)
          assert.equal(machine.host.running(uuid), 0)
          const opened = await new TestGateway(last).connect().opened()
          assert.deepEqual([opened.boot, opened.woken?.kind], [2, kind === 'cold' ? 'boot' : 'restore'])
          await last.reported()
          assert.deepEqual(machine.reports, [])
        },
      })
      assert.ok(deaths > 20)
    })

    it(`on the way to standby (${kind}), and nobody asks again: it sleeps or it runs, and is reached either way`, async () => {
      await dieEverywhere({
        prepare: async (machine) => {
          await start(machine, kind)
        },
        script: async (live, machine) => {
          await standBy(machine, live, kind)
        },
        next: async (live, machine) => {
          const opened = await new TestGateway(live).connect().opened()
          assert.ok(opened.boot === 1 || opened.boot === 2)
          // The guest does not rest for a standby any more, so its word against standby is not held back.
          machine.host.setDisabled({ ...boot, boot: opened.boot }, true)
          assert.equal(live.agent.leases.hostLease(uuid)?.disabled, true)
          assert.equal(machine.host.running(uuid), 1)
        },
        check: (machine, last) => {
          isOneThing(machine, last)
        },
      })
    })

    it(`in a wake (${kind}): one VM of the permit’s boot, which the workflow hears of`, async () => {
      const deaths = await dieEverywhere({
        prepare: async (machine) => {
          await sleep(machine, kind)
        },
        script: async (live) => {
          const opened = await new TestGateway(live).connect().opened()
          assert.equal(opened.boot, 2)
          await live.reported()
        },
        check: async (machine, last) => {
          isOneThing(machine, last)
          await last.reported()
          assert.equal(machine.host.running(uuid), 1)
          assert.ok(machine.told.includes('waking'))
          assert.equal(machine.starts.at(-1)?.boot, 2)
        },
      })
      assert.ok(deaths > 15)
    })

    it(`in a wake (${kind}) that nobody waits for any more: it sleeps or it runs`, async () => {
      await dieEverywhere({
        prepare: async (machine) => {
          await sleep(machine, kind)
        },
        script: async (live) => {
          await new TestGateway(live).connect().opened()
          await live.reported()
        },
        next: async (live) => {
          await seen('it is one thing', () => live.agent.entries.get(uuid)?.job === undefined)
        },
        check: isOneThing,
      })
    })

    it(`in a stop of what sleeps (${kind}): neither VM nor permit, nor anything kept`, async () => {
      const deaths = await dieEverywhere({
        prepare: async (machine) => {
          await sleep(machine, kind)
        },
        script: async (live) => {
          await live.agent.stop({ ...boot, boot: 2, forced: false, graceMs: 1_000 })
        },
        check: async (machine, last) => {
          const gateway = new TestGateway(last).connect()
          gateway.open()
          assert.equal((await gateway.next('refused')).reason, 'stopped')
          const directory = last.ports.store.directory(uuid)
          assert.equal(existsSync(join(directory, 'snapshot')), false)
          assert.equal(existsSync(join(directory, 'launch')), false)
          assert.equal(machine.host.running(uuid), 0)
          assert.equal(machine.network.attached.size, 0)
          await assert.rejects(last.agent.start({ ...boot, boot: 2 }))
        },
      })
      assert.ok(deaths > 10)
    })
  }

  it('while it leaves an instance only its permit: the instance wakes by it', async () => {
    await dieEverywhere({
      prepare: async (machine) => {
        machine.scalesToZero(policies.cold)
        await Promise.resolve()
      },
      script: async (live) => {
        const order = { ...boot, boot: 0, epoch: 0, permit: 1, stateful: false, graceMs: 0 }
        assert.equal((await live.agent.standBy(order)).slept, true)
      },
      check: async (machine, last) => {
        assert.equal((await new TestGateway(last).connect().opened()).boot, 1)
        assert.equal(machine.host.running(uuid), 1)
      },
    })
  })
})
