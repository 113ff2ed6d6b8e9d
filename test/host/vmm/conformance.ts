import assert from 'node:assert/strict'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import type { ExitReport } from '../../../src/domain/instance/exit-report.ts'
import type { VmName } from '../../../src/host/vmm/vmm.ts'
import { exitOf, VmmScene } from './scene.ts'
import type { Behaviour, VmmWorld } from './scene.ts'

const graceMs = 600
const forever: Behaviour = {}

/** What every VMM must do. */
export function vmmConformance(makeWorld: () => Promise<VmmWorld>): void {
  const scene = new VmmScene(makeWorld)

  async function endOf(behaviour: Behaviour): Promise<ExitReport> {
    const spec = await scene.start(behaviour)
    return await exitOf(scene.vmm, spec)
  }

  it('an application that ends well is reported with code 0', async () => {
    const exit = await endOf({ exitAfterMs: 50, exitCode: 0 })
    assert.partialDeepStrictEqual(exit, {
      boot: 1,
      cause: ExitCause.Guest,
      exitCode: 0,
      applicationStarted: true,
    })
    assert.equal(exit.signal, undefined)
  })

  it('an application that ends badly is reported with its code', async () => {
    assert.partialDeepStrictEqual(await endOf({ exitAfterMs: 50, exitCode: 42 }), {
      cause: ExitCause.Guest,
      exitCode: 42,
    })
  })

  it('an application that a signal ends is reported with the signal and no code', async () => {
    const exit = await endOf({ exitAfterMs: 50, signal: 11 })
    assert.partialDeepStrictEqual(exit, { cause: ExitCause.Guest, signal: 11 })
    assert.equal(exit.exitCode, undefined)
  })

  it('a kernel that panics is distinguished from an application that ends', async () => {
    const exit = await endOf({ exitAfterMs: 50, panic: true })
    assert.equal(exit.cause, ExitCause.KernelPanic)
    assert.equal(exit.exitCode, undefined)
  })

  it('the shutdown signal ends an application that heeds it', async () => {
    const spec = await scene.start(forever)
    await scene.vmm.shutdown(spec, { graceMs: 10_000 })
    const exit = await exitOf(scene.vmm, spec)
    assert.equal(exit.cause, ExitCause.Guest)
    assert.notEqual(exit.killedAtShutdown, true)
  })

  it('an application that outlives its grace is killed by its guest, and not earlier', async () => {
    const spec = await scene.start({ ignoresShutdown: true })
    const askedAtMs = Date.now()
    await scene.vmm.shutdown(spec, { graceMs })
    const exit = await exitOf(scene.vmm, spec)
    assert.partialDeepStrictEqual(exit, { cause: ExitCause.Guest, killedAtShutdown: true })
    assert.ok(Date.now() - askedAtMs >= graceMs - 5, 'it had its grace')
  })

  it('the cause that is given to a kill is the cause in the report', async () => {
    const [forced, halted] = [await scene.start(forever), await scene.start(forever)]
    await scene.vmm.kill(forced, 'forced')
    await scene.vmm.kill(halted, 'host-halted')
    assert.equal((await scene.vmm.status(forced))?.exit?.cause, ExitCause.Forced)
    assert.equal((await scene.vmm.status(halted))?.exit?.cause, ExitCause.HostHalted)
    assert.equal((await scene.vmm.status(forced))?.exit?.exitCode, undefined)
  })

  it('a VMM that dies by itself is reported as lost', async () => {
    const spec = await scene.start(forever)
    await scene.world.loseVmm(scene.vmm, spec)
    assert.equal((await exitOf(scene.vmm, spec)).cause, ExitCause.VmmLost)
  })

  it('a second start of a VM that runs returns the same report and starts nothing', async () => {
    const spec = await scene.prepare(forever)
    const [first, beside] = await Promise.all([scene.vmm.start(spec), scene.vmm.start(spec)])
    const later = await scene.vmm.start(spec)
    assert.deepEqual({ ...beside, netTimeUs: 0 }, { ...first, netTimeUs: 0 })
    assert.equal(later.bootTimeUs, first.bootTimeUs)
    assert.equal(later.startedAtMs, first.startedAtMs)
  })

  it('the first socket that listens calls the listener, and its time is in the report from then on', async () => {
    const told = Promise.withResolvers<VmName>()
    scene.vmm.onListening(told.resolve)
    const spec = await scene.start({ listenAfterMs: 1_000 })
    assert.equal((await scene.vmm.status(spec))?.started?.netTimeUs, undefined)
    assert.deepEqual(await told.promise, { instanceUuid: spec.instanceUuid, boot: 1 })
    const report = (await scene.vmm.status(spec))?.started
    assert.ok(report !== undefined && (report.netTimeUs ?? 0) > report.bootTimeUs)
    await scene.reopen()
    const found = (await scene.vmm.recover()).find((status) => status.instanceUuid === spec.instanceUuid)
    assert.deepEqual(found?.started, report)
  })

  it('a start that is aborted leaves no VM', async () => {
    const spec = await scene.prepare(forever)
    await assert.rejects(
      scene.vmm.start(spec, AbortSignal.abort(new Error('not wanted any more'))),
      /not wanted any more/,
    )
    const status = await scene.vmm.status(spec)
    assert.ok(status === undefined || status.exit !== undefined)
  })

  it('VMs outlive the object that started them and are found by the next', async () => {
    const spec = await scene.start(forever)
    const report = (await scene.vmm.status(spec))?.started
    await scene.reopen()
    const found = (await scene.vmm.recover()).find((status) => status.instanceUuid === spec.instanceUuid)
    assert.equal(found?.exit, undefined)
    assert.equal(found?.started?.bootTimeUs, report?.bootTimeUs)
    await scene.vmm.shutdown(spec, { graceMs: 10_000 })
    assert.equal((await exitOf(scene.vmm, spec)).cause, ExitCause.Guest)
  })

  it('an end that no VMM watched is found later with its true reason, the same each time', async () => {
    const spec = await scene.start({ exitAfterMs: 300, exitCode: 7 })
    await scene.vmm.close()
    await scene.world.untilEnded(spec)
    await scene.reopen()
    const reports = []
    for (let round = 0; round < 2; round += 1) {
      const found = (await scene.vmm.recover()).find((status) => status.instanceUuid === spec.instanceUuid)
      reports.push(found?.exit)
    }
    assert.partialDeepStrictEqual(reports[0], { cause: ExitCause.Guest, exitCode: 7 })
    assert.deepEqual(reports[1], reports[0])
  })

  it('CPU time stays known after the end, memory does not', async () => {
    const spec = await scene.start(forever)
    const running = await scene.vmm.usage(spec)
    assert.ok(running !== undefined && running.rssBytes > 0)
    await scene.vmm.kill(spec, 'forced')
    const ended = await scene.vmm.usage(spec)
    assert.ok(ended !== undefined && ended.cpuTimeMs >= running.cpuTimeMs)
    assert.equal(ended.rssBytes, 0)
  })

  it('CPU time can be read synchronously, and is the same as in the usage', async () => {
    const spec = await scene.start(forever)
    const before = scene.vmm.cpuTimeMs(spec)
    const usage = await scene.vmm.usage(spec)
    const after = scene.vmm.cpuTimeMs(spec)
    assert.ok(before !== undefined && usage !== undefined && after !== undefined)
    assert.ok(before <= usage.cpuTimeMs && usage.cpuTimeMs <= after)
    await scene.reopen()
    await scene.vmm.recover()
    assert.ok((scene.vmm.cpuTimeMs(spec) ?? 0) >= after)
    await scene.vmm.kill(spec, 'forced')
    assert.equal(scene.vmm.cpuTimeMs(spec), (await scene.vmm.usage(spec))?.cpuTimeMs)
    await scene.vmm.forget(spec)
    assert.equal(scene.vmm.cpuTimeMs(spec), undefined)
  })

  it('a VM that was forgotten is unknown, and the next boot can start', async () => {
    const spec = await scene.start(forever)
    await scene.vmm.kill(spec, 'forced')
    await scene.vmm.forget(spec)
    assert.equal(await scene.vmm.status(spec), undefined)
    assert.equal(await scene.vmm.usage(spec), undefined)
    const next = scene.follow({ ...spec, boot: 2 })
    assert.equal((await scene.vmm.start(next)).boot, 2)
  })

  it('commands for a VM that does not exist are harmless', async () => {
    const nobody = { instanceUuid: '00000000-0000-4000-8000-ffffffffffff', boot: 1 }
    await scene.vmm.shutdown(nobody, { graceMs })
    await scene.vmm.kill(nobody, 'forced')
    await scene.vmm.forget(nobody)
    assert.equal(await scene.vmm.status(nobody), undefined)
  })
}
