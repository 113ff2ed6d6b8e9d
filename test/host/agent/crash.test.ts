import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { dieEverywhere } from './death.ts'
import { uuid } from './machine.ts'
import type { Machine } from './machine.ts'

const boot = { instanceUuid: uuid, boot: 1 }
const exitedBy3 = { cause: ExitCause.Guest, exitCode: 3 } as const
function everyReportIs(machine: Machine, expected: object): void {
  assert.ok(machine.reports.length >= 1, 'the end was never reported')
  for (const { atMs: _, ...report } of machine.reports) assert.deepEqual(report, { boot: 1, ...expected })
}

function nothingIsLeft(machine: Machine): void {
  assert.equal(machine.host.running(), 0)
  assert.equal(machine.host.statuses().length, 0)
  assert.equal(machine.network.attached.size, 0)
}

describe('an agent that is killed anywhere', function () {
  // Each test kills an agent at every call of a timeline, one after the other.
  this.timeout(120_000)

  it('in a start: the next attempt finds that boot, and there is one VM', async () => {
    const deaths = await dieEverywhere({
      script: async (live) => {
        const { started, exit } = await live.agent.start(boot)
        assert.equal(started.boot, 1)
        assert.equal(exit, undefined)
      },
      check: (machine) => {
        assert.equal(machine.host.running(uuid), 1)
        assert.equal(machine.host.starts, 1)
        assert.deepEqual(machine.reports, [])
      },
    })
    assert.ok(deaths > 20)
  })

  it('around the end of an application: the end is reported with its true reason, and nothing is left', async () => {
    const deaths = await dieEverywhere({
      script: async (live, machine) => {
        await live.agent.start(boot)
        machine.host.end(boot, exitedBy3)
        await live.agent.entries.get(uuid)?.ended(2_000)
        await live.reported()
      },
      check: (machine) => {
        everyReportIs(machine, { ...exitedBy3, applicationStarted: true })
        nothingIsLeft(machine)
      },
    })
    assert.ok(deaths > 30)
  })

  it('while an application ends and no agent is there: the next one reports it', async () => {
    const deaths = await dieEverywhere({
      prepare: async (machine) => {
        const live = await machine.readyAgent()
        await live.agent.start(boot)
        live.kill()
        machine.host.end(boot, exitedBy3)
      },
      script: async (live) => {
        await live.reported()
      },
      check: (machine) => {
        everyReportIs(machine, { ...exitedBy3, applicationStarted: true })
        nothingIsLeft(machine)
      },
    })
    assert.ok(deaths > 10)
  })

  it('in a stop by the shutdown signal: the end is the one that the application chose', async () => {
    const deaths = await dieEverywhere({
      script: async (live) => {
        await live.agent.start(boot)
        const { exit } = await live.agent.stop({ ...boot, forced: false, graceMs: 1_000 })
        assert.equal(exit?.signal, 15)
        await live.reported()
      },
      check: (machine) => {
        everyReportIs(machine, { cause: ExitCause.Guest, signal: 15, applicationStarted: true })
        nothingIsLeft(machine)
      },
    })
    assert.ok(deaths > 30)
  })

  it('in a forced stop: it ends as forced', async () => {
    await dieEverywhere({
      script: async (live) => {
        await live.agent.start(boot)
        const { exit } = await live.agent.stop({ ...boot, forced: true, graceMs: 0 })
        assert.equal(exit?.cause, ExitCause.Forced)
        await live.reported()
      },
      check: (machine) => {
        everyReportIs(machine, { cause: ExitCause.Forced, applicationStarted: true })
        nothingIsLeft(machine)
      },
    })
  })

  it('in a removal: nothing of the instance is left', async () => {
    await dieEverywhere({
      prepare: async (machine) => {
        const live = await machine.readyAgent()
        await live.agent.start(boot)
        live.kill()
      },
      script: async (live) => {
        await live.agent.remove({ instanceUuid: uuid })
      },
      check: async (machine) => {
        nothingIsLeft(machine)
        assert.deepEqual(await readdir(join(machine.directory, 'instances')), [])
      },
    })
  })

  it('in a second boot: the first is over, and both count in the usage', async () => {
    await dieEverywhere({
      prepare: async (machine) => {
        const live = await machine.readyAgent()
        await live.agent.start(boot)
        await live.agent.stop({ ...boot, forced: true, graceMs: 0 })
        await live.reported()
        live.kill()
        machine.reports.length = 0
      },
      script: async (live) => {
        await live.agent.start({ instanceUuid: uuid, boot: 2 })
        assert.equal(live.agent.entries.get(uuid)?.record?.usageBefore.rxPackets, 1)
      },
      check: (machine) => {
        assert.equal(machine.host.running(uuid), 1)
        assert.deepEqual(machine.reports, [])
      },
    })
  })

  it('in a halt of the platform: the next agent reports every end as caused by the platform', async () => {
    let halted = 0
    await dieEverywhere({
      prepare: async (machine) => {
        const live = await machine.readyAgent()
        await live.agent.start(boot)
        live.kill()
      },
      script: async (live) => {
        await live.halt()
      },
      next: async (live) => {
        await live.reported()
      },
      check: (machine) => {
        // If the agent died before its halt began, the VM runs on and there is nothing to report.
        if (machine.host.running(uuid) === 1) {
          assert.deepEqual(machine.reports, [])
          return
        }
        halted += 1
        everyReportIs(machine, { cause: ExitCause.HostHalted, applicationStarted: true })
        nothingIsLeft(machine)
      },
    })
    assert.ok(halted > 10)
  })
})
