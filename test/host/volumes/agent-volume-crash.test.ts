import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { leaseKeptMs } from '../../../src/domain/standby/lease-protocol.ts'
import { dieEverywhere } from '../agent/death.ts'
import { pass, seen, TestGateway } from '../leases/gateway.ts'
import { otherUuid, uuid, volumeUuid } from '../agent/machine.ts'
import type { LiveAgent, Machine } from '../agent/machine.ts'

const boot = { instanceUuid: uuid, boot: 1 }
const forced = { forced: true, graceMs: 0 } as const
const policies = {
  cold: { policy: 'on', cooldownMs: 1_000, stateful: false },
  stateful: { policy: 'idle', cooldownMs: 1_000, stateful: true },
} as const
type Kind = keyof typeof policies

/**
 * Asserts that the instance holds the volume if it runs or sleeps, and only then. Also asserts that nobody
 * touched the volume while a VM or a memory had it.
 */
function holdIsRight(machine: Machine, last: LiveAgent): void {
  assert.deepEqual(machine.broken, [])
  const permit = last.agent.leases.hostLease(uuid)?.permit
  const expected = machine.host.running(uuid) === 1 || permit !== undefined ? uuid : undefined
  assert.equal(machine.volumes.held.get(volumeUuid), expected)
}

async function attached(machine: Machine): Promise<void> {
  machine.attach(uuid)
  await Promise.resolve()
}

async function started(machine: Machine): Promise<void> {
  machine.attach(uuid)
  const live = await machine.readyAgent()
  await live.agent.start(boot)
  live.kill()
  await live.written()
}

async function asleep(machine: Machine, kind: Kind): Promise<void> {
  machine.scalesToZero(policies[kind])
  await started(machine)
  const live = await machine.readyAgent()
  await standBy(machine, live, kind)
  live.kill()
  await live.written()
}

/**
 * Orders the standby as the workflow does: as soon as there is an idle period, and again while it is
 * refused.
 */
async function standBy(machine: Machine, live: LiveAgent, kind: Kind): Promise<void> {
  const order = { ...boot, permit: 2, stateful: kind === 'stateful', graceMs: 1_000 }
  for (let tries = 0; tries < 5; tries += 1) {
    pass(machine, live, leaseKeptMs)
    const epoch = live.agent.entries.get(uuid)?.hostLease.idle?.epoch ?? 0
    if ((await live.agent.standBy({ ...order, epoch })).slept) return
  }
  throw new Error('it never slept')
}

async function woken(live: LiveAgent): Promise<void> {
  const opened = await new TestGateway(live).connect().opened()
  assert.equal(opened.boot, 2)
}

describe('an agent that is killed anywhere, of an instance with a volume', function () {
  this.timeout(60_000)

  it('in a start: the instance runs with its volume, which was made once', async () => {
    const deaths = await dieEverywhere({
      prepare: attached,
      script: async (live) => {
        await live.agent.start(boot)
      },
      check: (machine, last) => {
        assert.equal(machine.host.running(uuid), 1)
        assert.equal(machine.volumes.made.size, 1)
        holdIsRight(machine, last)
      },
    })
    assert.ok(deaths > 25)
  })

  it('in a start that is not asked for again: the instance holds nothing if it has no VM', async () => {
    await dieEverywhere({
      prepare: attached,
      script: async (live) => {
        await live.agent.start(boot)
      },
      next: async () => {
        await Promise.resolve()
      },
      check: holdIsRight,
    })
  })

  it('around the end of an application: its volume is free', async () => {
    await dieEverywhere({
      prepare: attached,
      script: async (live, machine) => {
        await live.agent.start(boot)
        machine.host.end(boot, { cause: ExitCause.Guest, exitCode: 3 })
        await live.agent.entries.get(uuid)?.ended(2_000)
        await live.reported()
        await seen('the volume is free', () => !machine.volumes.held.has(volumeUuid))
      },
      check: holdIsRight,
    })
  })

  it('in a stop: its volume is free', async () => {
    await dieEverywhere({
      prepare: started,
      script: async (live) => {
        await live.agent.stop({ ...boot, ...forced })
      },
      check: (machine, last) => {
        assert.equal(machine.host.running(uuid), 0)
        holdIsRight(machine, last)
      },
    })
  })

  it('in a removal: its volume is free', async () => {
    await dieEverywhere({
      prepare: started,
      script: async (live) => {
        await live.agent.remove({ instanceUuid: uuid })
      },
      check: holdIsRight,
    })
  })

  it('in a halt of the platform: the volume is free if the instance was ended, and else still held by it', async () => {
    await dieEverywhere({
      prepare: started,
      script: async (live) => {
        await live.halt()
      },
      next: async (live) => {
        await live.reported()
      },
      check: holdIsRight,
    })
  })

  it('while another instance takes the volume over: first one instance has it, then the other', async () => {
    await dieEverywhere({
      prepare: async (machine) => {
        await started(machine)
        machine.attach(otherUuid, { made: true })
      },
      script: async (live) => {
        await Promise.all([
          live.agent.start({ instanceUuid: otherUuid, boot: 1 }),
          live.agent.remove({ instanceUuid: uuid }),
        ])
      },
      check: (machine) => {
        assert.deepEqual(machine.broken, [])
        assert.equal(machine.host.running(uuid), 0)
        assert.equal(machine.host.running(otherUuid), 1)
        assert.equal(machine.volumes.held.get(volumeUuid), otherUuid)
      },
    })
  })

  for (const kind of ['cold', 'stateful'] as const) {
    it(`on the way to standby (${kind}): it sleeps or runs with its volume`, async () => {
      await dieEverywhere({
        prepare: async (machine) => {
          machine.scalesToZero(policies[kind])
          await started(machine)
        },
        script: async (live, machine) => {
          await standBy(machine, live, kind)
        },
        check: holdIsRight,
      })
    })

    it(`in a stop of what sleeps (${kind}): no memory is left, and its volume is free`, async () => {
      await dieEverywhere({
        prepare: async (machine) => {
          await asleep(machine, kind)
        },
        script: async (live) => {
          await live.agent.stop({ ...boot, boot: 2, forced: false, graceMs: 1_000 })
        },
        check: (machine, last) => {
          assert.equal(existsSync(join(last.ports.store.directory(uuid), 'snapshot')), false)
          assert.equal(machine.volumes.held.has(volumeUuid), false)
          holdIsRight(machine, last)
        },
      })
    })
  }

  for (const [kind, vmm, what] of [
    ['cold', {}, 'it was checked'],
    ['stateful', {}, 'its memory goes on with it, or it was checked'],
    ['stateful', { unfitSnapshots: true }, 'it was checked before it booted after all'],
    ['stateful', { failRestore: 1 }, 'likewise where a memory could not go on'],
  ] as const) {
    it(`in a wake (${[kind, ...Object.keys(vmm)].join(', ')}): ${what}`, async () => {
      const deaths = await dieEverywhere({
        options: { vmm },
        prepare: async (machine) => {
          await asleep(machine, kind)
        },
        script: woken,
        check: (machine, last) => {
          assert.equal(machine.host.running(uuid), 1)
          holdIsRight(machine, last)
        },
      })
      assert.ok(deaths > 15)
    })
  }
})
