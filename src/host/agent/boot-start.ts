import { HostFailure } from '../../domain/host-work.ts'
import type { StartResult } from '../../domain/host-work.ts'
import type { LaunchSpec } from '../../domain/node-protocol.ts'
import { StartKind } from '../../domain/start-report.ts'
import type { StartReport } from '../../domain/start-report.ts'
import { ConsoleWriter } from '../console/console-writer.ts'
import type { PreparedImage } from '../images/images.ts'
import type { Attachment, NicSpec } from '../network/network.ts'
import { VmmError } from '../vmm/vmm.ts'
import type { AgentPorts } from './agent-ports.ts'
import { vmOf } from './boot-end.ts'
import type { BootEnd } from './boot-end.ts'
import { guestProcess } from './guest-process.ts'
import { asHostStartError, HostStartError } from './host-start-error.ts'
import type { InstanceEntry, StartJob } from './instance-entry.ts'
import { newRecord } from './instance-record.ts'
import type { InstanceRecord } from './instance-record.ts'

/** A line of the platform in an instance's console stays a line. */
const consoleLineMaxLength = 500

/**
 * Brings one boot up, within the instance's queue:
 *
 *   launch spec -> record -> image and address side by side -> VM -> record
 *
 * Cut off anywhere by the death of the agent, the same call goes on from what it finds: the VM of this boot, its
 * exit, or nothing yet. Cut off by `job.controller`, nothing of the boot is left running.
 */
export class BootStart {
  readonly #ports: AgentPorts
  readonly #end: BootEnd

  constructor(ports: AgentPorts, end: BootEnd) {
    this.#ports = ports
    this.#end = end
  }

  async run(entry: InstanceEntry, job: StartJob): Promise<StartResult> {
    const earlier = await this.#earlierAttempt(entry, job)
    if (earlier !== undefined) return earlier
    try {
      return await this.#bringUp(entry, job)
    } catch (error) {
      const failure = asHostStartError(error)
      this.#ports.observer.startFailed(failure.failure)
      const subject = { instance: entry.instanceUuid, boot: job.boot, failure: failure.failure }
      if (!job.controller.signal.aborted) this.#ports.log.warn(subject, `a start failed: ${failure.message}`)
      throw failure
    }
  }

  /** What is already decided about this boot. */
  async #earlierAttempt(entry: InstanceEntry, job: StartJob): Promise<StartResult | undefined> {
    const known = entry.record?.boot ?? 0
    if (job.boot < known || job.boot <= entry.stoppedThroughBoot) {
      const over = Math.max(known, entry.stoppedThroughBoot)
      throw new HostStartError(
        HostFailure.BootFailed,
        `boot ${String(job.boot)} is over; this host knows boot ${String(over)}`,
        {
          final: true,
        },
      )
    }
    if (job.boot > known) return undefined
    const exit = await this.#end.settle(entry)
    const { started } = entry.record ?? {}
    if (exit !== undefined) return { started: started ?? neverStarted(job.boot, exit.atMs), exit }
    return started === undefined ? undefined : { started }
  }

  async #bringUp(entry: InstanceEntry, job: StartJob): Promise<StartResult> {
    const { launches, vmm, observer, nowMs } = this.#ports
    const askedAtMs = nowMs()
    const { signal } = job.controller
    const spec = await launches.launchSpec(entry.instanceUuid, signal)
    await this.#endPrevious(entry, job.boot)
    let record = await this.#begin(entry, job.boot, spec)
    try {
      const { image, attachment } = await this.#prepare(spec, record.nic, signal)
      const process = guestProcess(spec, image)
      const nicBase = await this.#ports.network.counters(record.nic)
      record = { ...record, imageDigest: image.digest, ...(nicBase === undefined ? {} : { nicBase }) }
      signal.throwIfAborted()
      const prepareMs = nowMs() - askedAtMs
      job.vmAsked = true
      const started = await vmm.start(this.#vmSpec({ spec, record, image, attachment, process }), signal)
      entry.lastComplaint = ''
      await entry.save({ ...record, started })
      observer.started(started, prepareMs)
      const exit = await this.#end.settle(entry)
      return exit === undefined ? { started } : { started, exit }
    } catch (error) {
      await this.#undo(entry, record, error)
      await this.#tellUser(entry, error, signal)
      throw error
    }
  }

  /** There is one VM of an instance at most: one that was thought to be lost goes before the next comes. */
  async #endPrevious(entry: InstanceEntry, boot: number): Promise<void> {
    const { record } = entry
    if (record === undefined || record.boot === boot || record.exit !== undefined) return
    await this.#end.kill(entry, 'forced')
    await this.#end.release(record)
  }

  async #begin(entry: InstanceEntry, boot: number, spec: LaunchSpec): Promise<InstanceRecord> {
    const { instanceUuid } = entry
    const nic: NicSpec = { instanceUuid, userUuid: spec.userUuid, ip: spec.privateIp, mac: spec.mac }
    const imageDigest = spec.image.slice(spec.image.indexOf('@') + 1)
    const { hostBootId } = this.#ports
    const record = newRecord({ instanceUuid, boot, hostBootId, nic, imageDigest }, entry.record)
    await entry.save(record)
    return record
  }

  async #prepare(
    spec: LaunchSpec,
    nic: NicSpec,
    signal: AbortSignal,
  ): Promise<{ readonly image: PreparedImage; readonly attachment: Attachment }> {
    const { images, network } = this.#ports
    // Both are waited for even when one fails, so that nothing is attached after it was given back.
    const [image, attachment] = await Promise.allSettled([
      images.prepare(spec.image, signal),
      network.attach(nic),
    ])
    if (image.status === 'rejected') throw image.reason
    if (attachment.status === 'rejected') throw attachment.reason
    return { image: image.value, attachment: attachment.value }
  }

  #vmSpec(parts: {
    readonly spec: LaunchSpec
    readonly record: InstanceRecord
    readonly image: PreparedImage
    readonly attachment: Attachment
    readonly process: ReturnType<typeof guestProcess>
  }): Parameters<AgentPorts['vmm']['start']>[0] {
    const { spec, record, image, attachment, process } = parts
    const { store } = this.#ports
    return {
      ...vmOf(record),
      directory: store.directory(record.instanceUuid),
      consoleDirectory: store.consoleDirectory(record.instanceUuid),
      memoryMb: spec.memoryMb,
      vcpus: spec.vcpus,
      image,
      process,
      attachment,
    }
  }

  async #undo(entry: InstanceEntry, record: InstanceRecord, error: unknown): Promise<void> {
    // With the counters' base, so that an end that is recorded here counts right.
    if (entry.record?.exit === undefined) await entry.save(record)
    // A VMM that refused has no VM, whatever it kept of the attempt: that boot did not end, it may be tried again.
    if (!(error instanceof VmmError)) await this.#end.kill(entry, 'forced')
    await this.#end.release(record)
  }

  /** There is no VM now, so the console has no other writer. */
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

/** Of a boot that ended before there was anything to measure. */
export function neverStarted(boot: number, atMs: number): StartReport {
  return {
    boot,
    kind: StartKind.Boot,
    startedAtMs: atMs,
    bootTimeUs: 0,
    vmmStartTimeUs: 0,
    vmmLoadTimeUs: 0,
    vmmReadyTimeUs: 0,
  }
}
