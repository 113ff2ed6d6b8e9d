import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import { HostStartError } from '../../../src/host/instance/host-start-error.ts'
import { UsageMeter } from '../../../src/host/instance/usage-meter.ts'
import { readConsole } from '../../../src/host/console/console-reader.ts'
import { Machine, otherUuid, uuid } from './machine.ts'
import type { LiveAgent } from './machine.ts'

const boot = { instanceUuid: uuid, boot: 1 }
const secondBoot = { instanceUuid: uuid, boot: 2 }
const forced = { forced: true, graceMs: 0 } as const
const gentle = { forced: false, graceMs: 1_000 } as const

const failsWith = (failure: HostFailure) => (error: unknown) =>
  error instanceof HostStartError && error.failure === failure

async function consoleText(live: LiveAgent): Promise<string> {
  const window = await readConsole(live.ports.store.consoleDirectory(uuid), { offset: 0, limit: 10_000 })
  return Buffer.from(window.outputBase64, 'base64').toString()
}

describe('the agent', () => {
  let machine: Machine
  beforeEach(async () => {
    machine = await Machine.make()
  })
  afterEach(async () => {
    await machine.remove()
  })

  describe('starting', () => {
    it('several calls for one boot, at once and after it is up, share one VM and one report', async () => {
      const live = await machine.readyAgent({ vmm: { bootMs: 20 } })
      const [one, two] = await Promise.all([live.agent.start(boot), live.agent.start(boot)])
      assert.deepEqual(one, two)
      assert.deepEqual(await live.agent.start(boot), one)
      assert.equal(machine.host.starts, 1)
    })

    it('a boot that is over is answered with its end, and nothing starts', async () => {
      const live = await machine.readyAgent()
      await live.agent.start(boot)
      const { exit } = await live.agent.stop({ ...boot, ...forced })
      assert.deepEqual((await live.agent.start(boot)).exit, exit)
      assert.equal(machine.host.starts, 1)
    })

    it('a call for an older boot than the known one changes nothing', async () => {
      const live = await machine.readyAgent()
      await live.agent.start(secondBoot)
      await assert.rejects(
        live.agent.start(boot),
        (error: unknown) => error instanceof HostStartError && error.final,
      )
      assert.deepEqual(await live.agent.stop({ ...boot, ...forced }), {})
      assert.equal(machine.host.running(uuid), 1)
    })

    it('a newer boot ends the VM of an older one first', async () => {
      const live = await machine.readyAgent()
      await live.agent.start(boot)
      await live.agent.start(secondBoot)
      assert.equal(machine.host.running(uuid), 1)
      assert.equal(machine.host.mostOfOneInstance, 1)
    })

    it('an application that ends by itself is reported', async () => {
      machine.runs('exit-after=0', 'exit-code=4')
      const live = await machine.readyAgent()
      await live.agent.start(boot)
      await live.agent.entries.get(uuid)?.ended(1_000)
      await live.reported()
      assert.deepEqual(
        machine.reports.map((exit) => exit.exitCode),
        [4],
      )
    })

    it('a failed image leaves no address behind, tells the user why, and can be tried again', async () => {
      const live = await machine.readyAgent({ images: { fail: { nth: 1, failure: 'ImageUnavailable' } } })
      await assert.rejects(live.agent.start(boot), failsWith(HostFailure.ImageUnavailable))
      assert.equal(machine.network.attached.size, 0)
      assert.match(await consoleText(live), /^\[roost\] could not start: the image fails as asked\n$/)
      await live.agent.start(boot)
      assert.equal(machine.host.running(uuid), 1)
    })

    it('a VMM that refuses leaves nothing behind and the same boot can be tried again', async () => {
      const live = await machine.readyAgent({ vmm: { failStart: 1 } })
      await assert.rejects(live.agent.start(boot), failsWith(HostFailure.BootFailed))
      assert.equal(machine.network.attached.size, 0)
      await live.agent.start(boot)
      assert.equal(machine.reports.length, 0)
      assert.equal(machine.host.running(uuid), 1)
    })

    it('a start that its caller gave up leaves no VM', async () => {
      const live = await machine.readyAgent({ vmm: { hangStart: 1 } })
      const start = live.agent.start(boot)
      start.catch(() => undefined)
      await machine.host.firstVm()
      await live.agent.abandon(boot)
      await assert.rejects(start)
      assert.equal(machine.host.running(), 0)
      assert.equal(machine.network.attached.size, 0)
    })
  })

  describe('stopping', () => {
    it('a forced stop cuts a start off', async () => {
      const live = await machine.readyAgent({ vmm: { hangStart: 1 } })
      const start = live.agent.start(boot)
      start.catch(() => undefined)
      await machine.host.firstVm()
      const { exit } = await live.agent.stop({ ...boot, ...forced })
      assert.equal(exit?.cause, ExitCause.Forced)
      assert.equal(exit?.applicationStarted, false)
      assert.equal(machine.host.running(), 0)
    })

    it('a gentle stop lets a VM that is coming up come up, and then asks it to end', async () => {
      const live = await machine.readyAgent({ vmm: { bootMs: 30 } })
      const start = live.agent.start(boot)
      await machine.host.firstVm()
      const { exit } = await live.agent.stop({ ...boot, ...gentle })
      assert.equal(exit?.signal, 15)
      assert.equal((await start).started.boot, 1)
    })

    it('a stop that comes before its start keeps the start from happening', async () => {
      const live = await machine.readyAgent()
      assert.deepEqual(await live.agent.stop({ ...boot, ...gentle }), {})
      await assert.rejects(live.agent.start(boot), failsWith(HostFailure.BootFailed))
      await live.agent.start(secondBoot)
      assert.equal(machine.host.starts, 1)
    })

    it('a stop in the same moment as its start leaves nothing running', async () => {
      const live = await machine.readyAgent()
      for (const stop of [gentle, forced]) {
        const first = { instanceUuid: stop.forced ? uuid : otherUuid, boot: 1 }
        const start = live.agent.start(first)
        await Promise.all([assert.rejects(start), live.agent.stop({ ...first, ...stop })])
        assert.equal(machine.host.running(first.instanceUuid), 0)
      }
    })

    it('an application that outlives its grace is killed by the guest, and the report says so', async () => {
      machine.runs('ignore-shutdown')
      const live = await machine.readyAgent()
      await live.agent.start(boot)
      const { exit } = await live.agent.stop({ ...boot, forced: false, graceMs: 10 })
      assert.equal(exit?.killedAtShutdown, true)
    })

    it('a forced stop overtakes a gentle one; both see the same end', async () => {
      machine.runs('ignore-shutdown')
      const live = await machine.readyAgent()
      await live.agent.start(boot)
      const first = live.agent.stop({ ...boot, forced: false, graceMs: 60_000 })
      const second = await live.agent.stop({ ...boot, ...forced })
      assert.equal(second.exit?.cause, ExitCause.Forced)
      assert.deepEqual(await first, second)
    })

    it('a repeated stop gets the same report', async () => {
      const live = await machine.readyAgent()
      await live.agent.start(boot)
      const first = await live.agent.stop({ ...boot, ...gentle })
      assert.deepEqual(await live.agent.stop({ ...boot, ...forced }), first)
    })

    it('removing deletes everything, running or not, known or not', async () => {
      const live = await machine.readyAgent()
      await live.agent.start(boot)
      await live.agent.remove({ instanceUuid: uuid })
      await live.agent.remove({ instanceUuid: uuid })
      await live.agent.remove({ instanceUuid: otherUuid })
      assert.equal(machine.host.statuses().length, 0)
      assert.equal(machine.network.attached.size, 0)
      assert.deepEqual(await readdir(join(machine.directory, 'instances')), [])
    })
  })

  it('a start that a deletion overtook causes no warning to the operator', async () => {
    const live = await machine.readyAgent()
    machine.specs.delete(uuid)
    await assert.rejects(live.agent.start(boot), failsWith(HostFailure.UnknownInstance))
    const permit = { instanceUuid: uuid, boot: 0, epoch: 0, permit: 1, stateful: false, graceMs: 0 }
    assert.equal((await live.agent.standBy(permit)).slept, false)
    assert.deepEqual(live.log, [])
  })

  it('a start that comes while its instance is removed does not bring it back', async () => {
    const live = await machine.readyAgent()
    await live.agent.start(boot)
    const removal = live.agent.remove({ instanceUuid: uuid })
    await assert.rejects(live.agent.start(secondBoot), failsWith(HostFailure.UnknownInstance))
    await removal
    assert.equal(machine.host.running(), 0)
    assert.equal(machine.network.attached.size, 0)
  })

  describe('after the death of the agent before', () => {
    async function runOneAndDie(): Promise<void> {
      const live = await machine.readyAgent()
      await live.agent.start(boot)
      live.kill()
    }

    it('a VM runs on, keeps its address and is stopped by the new agent', async () => {
      await runOneAndDie()
      const live = await machine.readyAgent()
      assert.equal(machine.host.running(uuid), 1)
      assert.equal(machine.network.attached.size, 1)
      const { exit } = await live.agent.stop({ ...boot, ...gentle })
      assert.equal(exit?.signal, 15)
    })

    it('a VM that ends later is reported by the new agent', async () => {
      await runOneAndDie()
      const live = await machine.readyAgent()
      machine.host.end(boot, { cause: ExitCause.KernelPanic })
      await live.agent.entries.get(uuid)?.ended(1_000)
      await live.reported()
      assert.deepEqual(
        machine.reports.map((exit) => exit.cause),
        [ExitCause.KernelPanic],
      )
    })

    it('an end that nobody was told of is found by a check', async () => {
      const live = await machine.readyAgent()
      await live.agent.start(boot)
      machine.host.lose(boot)
      await live.agent.check()
      await live.reported()
      assert.deepEqual(
        machine.reports.map((exit) => exit.cause),
        [ExitCause.VmmLost],
      )
    })

    it('a failure with one instance does not keep the next agent from the others', async () => {
      await runOneAndDie()
      const before = await machine.readyAgent()
      await before.agent.start({ instanceUuid: otherUuid, boot: 1 })
      before.kill()
      machine.network.broken.add('10.64.0.2')
      const live = await machine.readyAgent()
      const { exit } = await live.agent.stop({ instanceUuid: otherUuid, boot: 1, ...gentle })
      assert.equal(exit?.signal, 15)
      assert.equal(machine.host.running(uuid), 1)
    })

    it('a VM that is gone after a reboot of the machine was halted, otherwise it was lost', async () => {
      await runOneAndDie()
      machine.host.lose(boot)
      const live = await machine.readyAgent()
      await live.reported()
      assert.equal(machine.reports.at(-1)?.cause, ExitCause.VmmLost)
      await live.agent.start(secondBoot)
      live.kill()
      machine.host.reboot()
      machine.bootId = 'boot-2'
      await (await machine.readyAgent()).reported()
      assert.deepEqual(
        machine.reports.map((exit) => [exit.boot, exit.cause]),
        [
          [1, ExitCause.VmmLost],
          [2, ExitCause.HostHalted],
        ],
      )
    })

    it('a VM without a record is ended, and so is a VM whose record can not be read', async () => {
      await runOneAndDie()
      await writeFile(join(machine.directory, 'instances', uuid, 'record.json'), '{"version":1,')
      const live = await machine.readyAgent()
      assert.equal(machine.host.statuses().length, 0)
      assert.equal(machine.reports.length, 0)
      await live.agent.start(secondBoot)
    })

    it('a start that had no VM yet holds no address, and is nothing to report', async () => {
      const live = await machine.readyAgent({ vmm: { hangStart: 1 } })
      live.agent.start(boot).catch(() => undefined)
      await machine.host.firstVm()
      live.kill()
      machine.host.lose(boot)
      const next = await machine.readyAgent()
      assert.equal(machine.network.attached.size, 0)
      await next.reported()
      assert.equal(machine.reports.length, 0)
    })

    it('a directory that is not an instance’s is left alone', async () => {
      await mkdir(join(machine.directory, 'instances', 'lost+found'), { recursive: true })
      const live = await machine.readyAgent()
      assert.equal(live.agent.entries.size, 0)
    })

    it('an end that was reported is not reported again', async () => {
      const first = await machine.readyAgent()
      await first.agent.start(boot)
      await first.agent.stop({ ...boot, ...forced })
      await first.reported()
      first.kill()
      const next = await machine.readyAgent()
      await next.reported()
      assert.equal(machine.reports.length, 1)
    })
  })

  describe('halting', () => {
    it('ends all VMs, reports nothing, and refuses starts; the next agent reports each once', async () => {
      const live = await machine.readyAgent()
      await Promise.all([live.agent.start(boot), live.agent.start({ instanceUuid: otherUuid, boot: 1 })])
      await live.halt()
      assert.equal(machine.host.running(), 0)
      assert.equal(machine.reports.length, 0)
      await assert.rejects(live.agent.start(secondBoot), failsWith(HostFailure.BootFailed))
      await (await machine.readyAgent()).reported()
      assert.deepEqual(
        machine.reports.map((exit) => exit.cause),
        [ExitCause.HostHalted, ExitCause.HostHalted],
      )
    })

    it('an end that came before the halt keeps its own reason', async () => {
      const live = await machine.readyAgent({ events: ['fail', 'fail', 'fail'] })
      await live.agent.start(boot)
      machine.host.end(boot, { cause: ExitCause.Guest, exitCode: 7 })
      await live.agent.entries.get(uuid)?.ended(1_000)
      machine.nowMs += 1
      await live.halt()
      await (await machine.readyAgent()).reported()
      assert.equal(machine.reports[0]?.exitCode, 7)
    })

    it('a stop that was asked for before the halt is not reported as a halt', async () => {
      machine.runs('ignore-shutdown')
      const live = await machine.readyAgent()
      await live.agent.start(boot)
      const stop = live.agent.stop({ ...boot, forced: false, graceMs: 20 })
      await live.halt()
      assert.equal((await stop).exit?.killedAtShutdown, true)
    })

    it('cuts off a start that is under way', async () => {
      const live = await machine.readyAgent({ vmm: { hangStart: 1 } })
      const start = live.agent.start(boot)
      start.catch(() => undefined)
      await machine.host.firstVm()
      await live.halt()
      await assert.rejects(start)
      assert.equal(machine.host.running(), 0)
    })
  })

  describe('accounting', () => {
    it('usage accumulates over boots and outlives agents; memory is 0 once the VM ended', async () => {
      const first = await machine.readyAgent()
      await first.agent.start(boot)
      await new UsageMeter(first.ports, first.agent.entries).sampleAll()
      await first.agent.stop({ ...boot, ...forced })
      await first.agent.start(secondBoot)
      first.kill()
      const next = await machine.readyAgent()
      const meter = new UsageMeter(next.ports, next.agent.entries)
      const running = (await meter.usageOf([uuid, otherUuid]))[uuid]
      await next.agent.stop({ ...secondBoot, ...forced })
      const stopped = (await meter.usageOf([uuid]))[uuid]
      assert.ok(running !== undefined && stopped !== undefined)
      assert.ok(running.rssBytes > 0)
      assert.equal(stopped.rssBytes, 0)
      // The fake network counts a packet per reading. The first boot has two readings, a sample and the end;
      // the second boot also has two.
      assert.equal(running.rxPackets, 2 + 1)
      assert.equal(stopped.rxPackets, 2 + 2)
      assert.equal(stopped.txBytes, 200 * stopped.rxPackets)
    })

    it('traffic that an attachment had counted before a boot does not count for that boot', async () => {
      const live = await machine.readyAgent()
      const nic = { instanceUuid: uuid, userUuid: '', ip: '10.64.0.2', mac: '12:b0:0a:40:00:02' }
      await machine.network.attach(nic)
      for (let reading = 0; reading < 5; reading += 1) await machine.network.counters(nic)
      await live.agent.start(boot)
      const usage = await new UsageMeter(live.ports, live.agent.entries).usageOf([uuid])
      assert.equal(usage[uuid]?.rxPackets, 1)
    })
  })
})
