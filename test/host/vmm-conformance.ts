import assert from 'node:assert/strict'
import { ExitCause } from '../../src/domain/exit-report.ts'
import type { ExitReport } from '../../src/domain/exit-report.ts'
import type { Vmm, VmName, VmSpec } from '../../src/host/vmm/vmm.ts'

/** What an application of the suite does once it is entered. */
export interface Behaviour {
  /** Ends by itself after this time; absent: runs until it is told to stop. */
  readonly exitAfterMs?: number
  readonly exitCode?: number
  /** Ends by this signal instead of a code. */
  readonly signal?: number
  /** Its end is one of the whole kernel. */
  readonly panic?: boolean
  /** Listens on a socket after this time. */
  readonly listenAfterMs?: number
  /** Goes on after the shutdown signal. */
  readonly ignoresShutdown?: boolean
}

/** One machine with a VMM on it; the machine outlives any one `Vmm` object. */
export interface VmmWorld {
  /** Another `Vmm` on the same machine, as the next agent would have. */
  open(): Vmm
  /** A VM nobody has yet, running an application that does this. */
  spec(behaviour: Behaviour): Promise<VmSpec>
  /** The VMM's process dies, and nobody asked for it. */
  loseVmm(vmm: Vmm, name: VmName): Promise<void>
  /** Resolves once the application does what its behaviour says. */
  untilReady(name: VmName): Promise<unknown>
  /** Resolves once the VM has ended, without a `Vmm` that watches it. */
  untilEnded(name: VmName): Promise<unknown>
}

const graceMs = 600
const forever: Behaviour = {}

/** Resolves with the report of the VM's end, whether it ended already or is still to end. */
export async function exitOf(vmm: Vmm, name: VmName): Promise<ExitReport> {
  return await new Promise((resolve, reject) => {
    vmm.onExit((ended, exit) => {
      if (ended.instanceUuid === name.instanceUuid && ended.boot === name.boot) resolve(exit)
    })
    vmm
      .status(name)
      .then((status) => status?.exit !== undefined && resolve(status.exit))
      .catch(reject)
  })
}

/** What every VMM must do. */
export function vmmConformance(makeWorld: () => Promise<VmmWorld>): void {
  let world: VmmWorld
  let vmm: Vmm
  const started: VmSpec[] = []

  before(async () => {
    world = await makeWorld()
  })
  beforeEach(() => {
    vmm = world.open()
  })
  afterEach(async () => {
    for (const spec of started.splice(0)) {
      await vmm.kill(spec, 'forced')
      await vmm.forget(spec)
    }
    await vmm.close()
  })

  async function start(behaviour: Behaviour): Promise<VmSpec> {
    const spec = await world.spec(behaviour)
    started.push(spec)
    await vmm.start(spec)
    if (behaviour.ignoresShutdown === true) await world.untilReady(spec)
    return spec
  }

  async function endOf(behaviour: Behaviour): Promise<ExitReport> {
    const spec = await start(behaviour)
    return await exitOf(vmm, spec)
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

  it('a kernel that panics is told from an application that ends', async () => {
    const exit = await endOf({ exitAfterMs: 50, panic: true })
    assert.equal(exit.cause, ExitCause.KernelPanic)
    assert.equal(exit.exitCode, undefined)
  })

  it('the shutdown signal ends an application that heeds it', async () => {
    const spec = await start(forever)
    await vmm.shutdown(spec, { graceMs: 10_000 })
    const exit = await exitOf(vmm, spec)
    assert.equal(exit.cause, ExitCause.Guest)
    assert.notEqual(exit.killedAtShutdown, true)
  })

  it('an application that outlives its grace is killed by its guest, and not earlier', async () => {
    const spec = await start({ ignoresShutdown: true })
    const askedAtMs = Date.now()
    await vmm.shutdown(spec, { graceMs })
    const exit = await exitOf(vmm, spec)
    assert.partialDeepStrictEqual(exit, { cause: ExitCause.Guest, killedAtShutdown: true })
    assert.ok(Date.now() - askedAtMs >= graceMs - 5, 'it had its grace')
  })

  it('a kill is forced, or the platform’s, as its cause says', async () => {
    const [forced, halted] = [await start(forever), await start(forever)]
    await vmm.kill(forced, 'forced')
    await vmm.kill(halted, 'host-halted')
    assert.equal((await vmm.status(forced))?.exit?.cause, ExitCause.Forced)
    assert.equal((await vmm.status(halted))?.exit?.cause, ExitCause.HostHalted)
    assert.equal((await vmm.status(forced))?.exit?.exitCode, undefined)
  })

  it('a VMM that dies by itself is reported as lost', async () => {
    const spec = await start(forever)
    await world.loseVmm(vmm, spec)
    assert.equal((await exitOf(vmm, spec)).cause, ExitCause.VmmLost)
  })

  it('starting a VM that runs answers as the first time and starts nothing', async () => {
    const spec = await world.spec(forever)
    started.push(spec)
    const [first, beside] = await Promise.all([vmm.start(spec), vmm.start(spec)])
    const later = await vmm.start(spec)
    assert.deepEqual({ ...beside, netTimeUs: 0 }, { ...first, netTimeUs: 0 })
    assert.equal(later.bootTimeUs, first.bootTimeUs)
    assert.equal(later.startedAtMs, first.startedAtMs)
  })

  it('the first socket that listens is told of, and its time is in the report from then on', async () => {
    const told = Promise.withResolvers<VmName>()
    vmm.onListening(told.resolve)
    const spec = await start({ listenAfterMs: 1_000 })
    assert.equal((await vmm.status(spec))?.started?.netTimeUs, undefined)
    assert.deepEqual(await told.promise, { instanceUuid: spec.instanceUuid, boot: 1 })
    const report = (await vmm.status(spec))?.started
    assert.ok(report !== undefined && (report.netTimeUs ?? 0) > report.bootTimeUs)
    await vmm.close()
    vmm = world.open()
    const found = (await vmm.recover()).find((status) => status.instanceUuid === spec.instanceUuid)
    assert.deepEqual(found?.started, report)
  })

  it('a start that is aborted leaves no VM', async () => {
    const spec = await world.spec(forever)
    await assert.rejects(
      vmm.start(spec, AbortSignal.abort(new Error('not wanted any more'))),
      /not wanted any more/,
    )
    const status = await vmm.status(spec)
    assert.ok(status === undefined || status.exit !== undefined)
  })

  it('VMs outlive the object that started them and are found by the next', async () => {
    const spec = await start(forever)
    const report = (await vmm.status(spec))?.started
    await vmm.close()
    vmm = world.open()
    const found = (await vmm.recover()).find((status) => status.instanceUuid === spec.instanceUuid)
    assert.equal(found?.exit, undefined)
    assert.equal(found?.started?.bootTimeUs, report?.bootTimeUs)
    await vmm.shutdown(spec, { graceMs: 10_000 })
    assert.equal((await exitOf(vmm, spec)).cause, ExitCause.Guest)
  })

  it('an end that nobody watched is found with its true reason, the same each time', async () => {
    const spec = await start({ exitAfterMs: 300, exitCode: 7 })
    await vmm.close()
    await world.untilEnded(spec)
    vmm = world.open()
    const reports = []
    for (let round = 0; round < 2; round += 1) {
      const found = (await vmm.recover()).find((status) => status.instanceUuid === spec.instanceUuid)
      reports.push(found?.exit)
    }
    assert.partialDeepStrictEqual(reports[0], { cause: ExitCause.Guest, exitCode: 7 })
    assert.deepEqual(reports[1], reports[0])
  })

  it('CPU time stays known after the end, memory does not', async () => {
    const spec = await start(forever)
    const running = await vmm.usage(spec)
    assert.ok(running !== undefined && running.rssBytes > 0)
    await vmm.kill(spec, 'forced')
    const ended = await vmm.usage(spec)
    assert.ok(ended !== undefined && ended.cpuTimeMs >= running.cpuTimeMs)
    assert.equal(ended.rssBytes, 0)
  })

  it('what was forgotten is unknown, and the next boot can start', async () => {
    const spec = await start(forever)
    await vmm.kill(spec, 'forced')
    await vmm.forget(spec)
    assert.equal(await vmm.status(spec), undefined)
    assert.equal(await vmm.usage(spec), undefined)
    const next = { ...spec, boot: 2 }
    started.push(next)
    assert.equal((await vmm.start(next)).boot, 2)
  })

  it('commands for a VM that is not there are harmless', async () => {
    const nobody = { instanceUuid: '00000000-0000-4000-8000-ffffffffffff', boot: 1 }
    await vmm.shutdown(nobody, { graceMs })
    await vmm.kill(nobody, 'forced')
    await vmm.forget(nobody)
    assert.equal(await vmm.status(nobody), undefined)
  })
}
