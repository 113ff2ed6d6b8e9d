import { HostFailure } from '../../domain/instance/host-work.ts'
import type { StartResult } from '../../domain/instance/host-work.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import type { LaunchSpec } from '../../domain/host/api-protocol.ts'
import { mayStandBy } from '../../domain/standby/scale-to-zero.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import { span } from '../../primitives/spans.ts'
import { ConsoleWriter } from '../console/console-writer.ts'
import type { PreparedImage } from '../images/images.ts'
import type { Attachment } from '../network/network.ts'
import { VmmError } from '../vmm/vmm.ts'
import type { VmVolume } from '../vmm/vmm.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import { vmOf } from './boot-end.ts'
import type { BootEnd } from './boot-end.ts'
import type { HostLeases } from '../leases/host-leases.ts'
import { guestProcess } from './guest-process.ts'
import { asHostStartError, HostStartError, requireTerm } from './host-start-error.ts'
import { withVolumeMade } from '../volumes/host-volumes.ts'
import type { HostVolumes } from '../volumes/host-volumes.ts'
import type { InstanceEntry, StartJob } from './entry.ts'
import {
  firstRecord,
  memoryWaits,
  newRecord,
  permitOf,
  sleepOf,
  withLaunch,
  withVersion,
  withVolume,
  withWoken,
} from './record.ts'
import type { InstanceRecord } from './record.ts'
import type { LaunchCopy } from './store.ts'
import { imageOf } from './launch-image.ts'
import { neverStarted } from './never-started.ts'
import type { StandbyWork } from '../leases/standby-work.ts'
import { StartShares } from './start-shares.ts'

/** The longest message of the platform in an instance's console; it stays one line. */
const consoleLineMaxLength = 500

/**
 * Brings one boot up, within the instance's queue:
 *
 *   launch spec -> record, image and address side by side, volume after the record -> VM -> record
 *
 * An instance in standby has kept spec, image and address. Its volume is checked only if the VM does not
 * continue from its snapshot:
 *
 *   record -> VM -> answers to the gateways that wait -> record
 *
 * If the agent dies in between, the caller repeats the call. It continues from what it finds: the VM of this
 * boot, its exit, or nothing yet. If `job.controller` aborts it, nothing of the boot is left running.
 */
export class BootStart {
  readonly #ports: AgentPorts
  readonly #end: BootEnd
  readonly #leases: HostLeases
  readonly #standby: StandbyWork
  readonly #volumes: HostVolumes
  readonly #shares: StartShares

  constructor(parts: {
    readonly ports: AgentPorts
    readonly end: BootEnd
    readonly leases: HostLeases
    readonly standby: StandbyWork
    readonly volumes: HostVolumes
  }) {
    this.#ports = parts.ports
    this.#end = parts.end
    this.#leases = parts.leases
    this.#standby = parts.standby
    this.#volumes = parts.volumes
    this.#shares = new StartShares(parts.ports.observer)
  }

  async run(entry: InstanceEntry, job: StartJob): Promise<StartResult> {
    try {
      const earlier = await this.#earlierAttempt(entry, job)
      if (earlier !== undefined) return earlier
      requireTerm(this.#ports)
      this.#leases.tell(entry, { kind: 'start', boot: job.boot })
      const { record } = entry
      // While a wake waits for its user's turn, the instance stays asleep, and an abort leaves it so.
      if (record !== undefined && permitOf(record) === job.boot) {
        const share = memoryWaits(record) ? this.#shares.restores : this.#shares.boots
        const wake = async () => span(entry.instanceUuid, 'host: wake', async () => this.#wake(entry, job))
        return await share.run(record.nic.userUuid, job.controller.signal, wake)
      }
      return await span(entry.instanceUuid, 'host: start', async () => this.#bringUp(entry, job))
    } catch (error) {
      const failure = asHostStartError(error)
      const { message } = failure
      this.#leases.tell(entry, {
        kind: 'start-failed',
        boot: job.boot,
        failure: failure.failure,
        message,
      })
      this.#ports.observer.startFailed(failure.failure)
      if (!job.controller.signal.aborted) this.#logFailure(entry, job, failure)
      throw failure
    }
  }

  /** A user who deletes an instance while it starts is no problem for an operator. */
  #logFailure(entry: InstanceEntry, { boot }: StartJob, { failure, message }: HostStartError): void {
    const { log } = this.#ports
    const subject = { instance: entry.instanceUuid, boot, failure }
    if (failure === HostFailure.UnknownInstance) {
      log.info(subject, 'a start was overtaken by the deletion of its instance')
    } else log.warn(subject, `a start failed: ${message}`)
  }

  /** Returns the result of this boot, if an earlier attempt has decided it. */
  async #earlierAttempt(entry: InstanceEntry, job: StartJob): Promise<StartResult | undefined> {
    const known = entry.record?.boot ?? 0
    if (job.boot < known || job.boot <= entry.stoppedThroughBoot) {
      const over = Math.max(known, entry.stoppedThroughBoot)
      throw new HostStartError(
        HostFailure.BootFailed,
        `boot ${String(job.boot)} is over; this host knows boot ${String(over)}`,
        { final: true },
      )
    }
    if (job.boot > known) return undefined
    const exit = await this.#end.settle(entry)
    const { started } = entry.record ?? {}
    // If the VM was shut down for standby, it did not end by itself. The answer then holds the result of the
    // order to stand by.
    const sleep = sleepOf(entry.record)
    if (sleep?.boot === job.boot && started !== undefined) return { started, slept: sleep.slept }
    if (exit !== undefined) return { started: started ?? neverStarted(job.boot, exit.atMs), exit }
    return started === undefined ? undefined : { started }
  }

  async #bringUp(entry: InstanceEntry, job: StartJob): Promise<StartResult> {
    const { launches, vmm, observer, nowMs } = this.#ports
    const askedAtMs = nowMs()
    const { signal } = job.controller
    const spec = await launches.launchSpec(entry.instanceUuid, signal)
    // The API's request may be late, and this agent does not know what the agent before it was asked.
    if (job.early && (spec.state ?? InstanceState.Starting) !== InstanceState.Starting)
      throw new HostStartError(HostFailure.BootFailed, `the instance is ${spec.state} by now`)
    await this.#endPrevious(entry, job.boot)
    let record = firstRecord(spec, { boot: job.boot, hostBootId: this.#ports.hostBootId }, entry.record)
    try {
      // This is checked before the pull, which may take minutes.
      vmm.checkMemory({ ...vmOf(record), memoryMb: spec.memoryMb })
      const { image, attachment, volume } = await this.#prepare(entry, { spec, record }, signal)
      const process = guestProcess(spec, image)
      const nicBase = await this.#ports.network.counters(record.nic)
      record = { ...record, imageDigest: image.digest, ...(nicBase === undefined ? {} : { nicBase }) }
      record = withVolume(record, volume)
      requireTerm(this.#ports, signal)
      const prepareMs = nowMs() - askedAtMs
      // The copy for wakes is written beside the start of the VM, so that it delays nothing. It is written
      // before any order to stand by comes.
      const copy = { spec: withVolumeMade(spec), image }
      const kept = mayStandBy(spec.scaleToZero) ? this.#keep(entry, copy) : undefined
      // A change of scale-to-zero may let it sleep later, with what this boot was launched with.
      entry.launch = copy
      const vmSpec = this.#vmSpec({ spec, record, image, attachment, volume, process, restore: false })
      const start = async () => {
        job.vmAsked = true
        return await vmm.start(vmSpec, signal)
      }
      const [report] = await Promise.all([this.#shares.boots.run(spec.userUuid, signal, start), kept])
      const started = withVersion(report, record)
      entry.lastComplaint = ''
      await entry.save({ ...record, started })
      observer.started(started, prepareMs)
      this.#tellStarted(entry, started, spec)
      const exit = await this.#end.settle(entry)
      return exit === undefined ? { started } : { started, exit }
    } catch (error) {
      await this.#undo(entry, record, error)
      await this.#tellUser(entry, error, signal)
      throw error
    }
  }

  /**
   * Wakes an instance. Launch spec, image and address were kept. So beside the work of the VMM there is only
   * the record to write (0.4 ms), the network to attach, and, if the VM does not continue from its snapshot,
   * the volume to check. All other work waits until the application runs.
   */
  async #wake(entry: InstanceEntry, job: StartJob): Promise<StartResult> {
    const { vmm, observer, nowMs } = this.#ports
    const askedAtMs = nowMs()
    const { signal } = job.controller
    const asleep = entry.record
    if (asleep?.standby === undefined) throw new Error('only an instance in standby can be woken')
    const restore = memoryWaits(asleep)
    let record = this.#wakingRecord(entry, asleep, job)
    try {
      const { spec, image, attachment, volume } = await this.#rouse(entry, { record, restore }, signal)
      record = withLaunch(withVolume(record, volume), spec)
      requireTerm(this.#ports, signal)
      job.vmAsked = true
      const prepareMs = nowMs() - askedAtMs
      const parts = { spec, record, image, attachment, volume, process: guestProcess(spec, image) }
      const vmSpec = this.#vmSpec({ ...parts, restore })
      const started = withVersion(await vmm.start(vmSpec, signal), record)
      this.#tellStarted(entry, started, spec)
      const wakeMs = nowMs() - askedAtMs
      record = withWoken(record, started, wakeMs)
      await entry.save({ ...record, ...(job.byPermit ? { startDue: true } : {}) })
      this.#end.newsSoon()
      observer.started(started, prepareMs)
      observer.woke(started.kind, wakeMs)
      const exit = await this.#end.settle(entry)
      return exit === undefined ? { started } : { started, exit }
    } catch (error) {
      entry.imageDoubted = true
      await this.#undo(entry, record, error)
      const reason = await this.#orLostImage(entry, error)
      await this.#tellUser(entry, reason, signal)
      throw reason
    }
  }

  /** A wake does not look for its image first. If the image is gone, that is why the VMM failed. */
  async #orLostImage({ launch }: InstanceEntry, error: unknown): Promise<unknown> {
    if (launch === undefined || (await this.#ports.images.isKept(launch.image))) return error
    const message = 'the image is not on this host any more; the next try fetches it again'
    return new HostStartError(HostFailure.ImageUnavailable, message, { cause: error })
  }

  async #rouse(
    entry: InstanceEntry,
    waking: { readonly record: InstanceRecord; readonly restore: boolean },
    signal: AbortSignal,
  ): Promise<LaunchCopy & { readonly attachment: Attachment; readonly volume: VmVolume | undefined }> {
    const { record, restore } = waking
    // In standby the network holds the device. `attach` frees it, and only then can the VM have it.
    const [saved, attached, launched] = await Promise.allSettled([
      entry.save(record).then(() => {
        if (record.wakingDueMs !== undefined) this.#end.newsSoon()
      }),
      this.#ports.network.attach(record.nic),
      this.#launchForWake(entry, { record, restore }, signal),
    ])
    if (saved.status === 'rejected') throw saved.reason
    if (attached.status === 'rejected') throw attached.reason
    if (launched.status === 'rejected') throw launched.reason
    return { ...launched.value, attachment: attached.value }
  }

  async #launchForWake(
    entry: InstanceEntry,
    { record, restore }: { readonly record: InstanceRecord; readonly restore: boolean },
    signal: AbortSignal,
  ): Promise<LaunchCopy & { readonly volume: VmVolume | undefined }> {
    const copy = await this.#standby.launchForWake(entry, signal)
    const volume = await this.#holdVolume(copy.spec, { record, restore }, signal)
    if (copy.spec.volume?.made === false)
      await this.#standby.keepLaunch(entry, { ...copy, spec: withVolumeMade(copy.spec) })
    return { ...copy, volume }
  }

  /** The file system is not checked if a VM of this boot, or a memory that continues, has the volume. */
  async #holdVolume(
    { volume }: LaunchSpec,
    { record, restore }: { readonly record: InstanceRecord; readonly restore: boolean },
    signal: AbortSignal,
  ): Promise<VmVolume | undefined> {
    if (volume === undefined) return undefined
    const there = await this.#ports.vmm.status(vmOf(record))
    const continues = restore || (there !== undefined && there.exit === undefined)
    return await this.#volumes.hold(volume, { instanceUuid: record.instanceUuid, continues }, signal)
  }

  #wakingRecord(entry: InstanceEntry, asleep: InstanceRecord, job: StartJob): InstanceRecord {
    const { instanceUuid, nic, imageDigest, standby, volume } = asleep
    const boot = { instanceUuid, boot: job.boot, hostBootId: this.#ports.hostBootId, nic, imageDigest }
    const memoryBoot = this.#standby.memoryBootAfter(asleep)
    return {
      ...newRecord(boot, asleep),
      ...(standby === undefined ? {} : { standby }),
      ...(volume === undefined ? {} : { volume }),
      ...(memoryBoot === undefined ? {} : { memoryBoot }),
      ...(entry.nicBase === undefined ? {} : { nicBase: entry.nicBase }),
      ...(job.byPermit ? { wakingDueMs: this.#ports.nowMs() } : {}),
    }
  }

  #tellStarted(entry: InstanceEntry, started: StartReport, spec: LaunchSpec): void {
    entry.newestStart = started
    this.#leases.tell(entry, {
      kind: 'started',
      boot: started.boot,
      start: started.kind,
      settings: spec.scaleToZero,
      listens: started.netTimeUs !== undefined,
    })
  }

  async #keep(entry: InstanceEntry, copy: LaunchCopy): Promise<void> {
    await this.#standby.keepLaunch(entry, copy).catch((error: unknown) => {
      // An order to stand by tries again. Until then the instance can not sleep, and nothing else is wrong.
      this.#ports.log.warn({ instance: entry.instanceUuid, err: error }, 'a launch spec could not be kept')
    })
  }

  /** An instance has at most one VM. So a VM that was taken for lost is ended before the next begins. */
  async #endPrevious(entry: InstanceEntry, boot: number): Promise<void> {
    const { record } = entry
    if (record === undefined) return
    // The instance was in standby, and its workflow has gone on to a later boot.
    if (permitOf(record) !== undefined) {
      await this.#standby.revoke(entry, boot - 1)
      return
    }
    if (record.boot === boot || record.exit !== undefined) return
    await this.#end.kill(entry, 'forced')
    await this.#end.release(entry, record)
  }

  async #prepare(
    entry: InstanceEntry,
    { spec, record }: { readonly spec: LaunchSpec; readonly record: InstanceRecord },
    signal: AbortSignal,
  ): Promise<{
    readonly image: PreparedImage
    readonly attachment: Attachment
    readonly volume: VmVolume | undefined
  }> {
    const { images, network } = this.#ports
    const saving = entry.save(record)
    // A volume is held only for an instance that the next agent will know. An address needs no record: the
    // next instance that gets it takes over the TAP device.
    const hold = async () => {
      await saving
      return await this.#holdVolume(spec, { record, restore: false }, signal)
    }
    // All are awaited even if one fails. Otherwise one could attach something after `release`.
    const [saved, image, attachment, volume] = await Promise.allSettled([
      saving,
      span(spec.uuid, 'host: image', async () => await images.prepare(imageOf(spec), signal)),
      network.attach(record.nic),
      spec.volume === undefined ? undefined : this.#shares.checks.run(spec.userUuid, signal, hold),
    ])
    if (saved.status === 'rejected') throw saved.reason
    if (image.status === 'rejected') throw image.reason
    if (attachment.status === 'rejected') throw attachment.reason
    if (volume.status === 'rejected') throw volume.reason
    return { image: image.value, attachment: attachment.value, volume: volume.value }
  }

  #vmSpec(parts: {
    readonly spec: LaunchSpec
    readonly record: InstanceRecord
    readonly image: PreparedImage
    readonly attachment: Attachment
    readonly volume: VmVolume | undefined
    readonly process: ReturnType<typeof guestProcess>
    readonly restore: boolean
  }): Parameters<AgentPorts['vmm']['start']>[0] {
    const { spec, record, image, attachment, volume, process, restore } = parts
    const { store } = this.#ports
    return {
      ...vmOf(record),
      directory: store.directory(record.instanceUuid),
      consoleDirectory: store.consoleDirectory(record.instanceUuid),
      userUuid: spec.userUuid,
      memoryMb: spec.memoryMb,
      vcpus: spec.vcpus,
      image,
      process,
      attachment,
      ...(volume === undefined ? {} : { volume }),
      restore,
    }
  }

  async #undo(entry: InstanceEntry, record: InstanceRecord, error: unknown): Promise<void> {
    // The record has the counters of the network at the start, which the usage of the boot is computed from
    // if its end is recorded below. `note` and not `save`: it never throws, and the next steps are needed in
    // any case.
    if (entry.record?.exit === undefined) await entry.note(record)
    // After a `VmmError` there is no VM: this boot did not end and may be tried again.
    if (!(error instanceof VmmError)) await this.#end.kill(entry, 'forced')
    await this.#end.release(entry, record)
  }

  /** Writes the reason to the console. There is no VM now, so the console has no other writer. */
  async #tellUser(entry: InstanceEntry, error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const reason = asHostStartError(error).message.replace(/\s+/g, ' ').slice(0, consoleLineMaxLength)
    if (reason === entry.lastComplaint) return
    entry.lastComplaint = reason
    const console = new ConsoleWriter(this.#ports.store.consoleDirectory(entry.instanceUuid))
    await console.append(Buffer.from(`[roost] could not start: ${reason}\n`)).catch((cause: unknown) => {
      this.#ports.log.warn({ instance: entry.instanceUuid, err: cause }, 'could not write to the console')
    })
  }
}
