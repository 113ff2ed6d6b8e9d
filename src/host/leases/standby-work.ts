import { randomUUID } from 'node:crypto'
import { hurriedGraceMs } from '../../domain/standby/host-lease-moves.ts'
import type { StandByOrder } from '../../domain/standby/host-lease-state.ts'
import { HostFailure, StandByRefusal } from '../../domain/instance/host-work.ts'
import { VmmError } from '../vmm/vmm.ts'
import { mayStandBy } from '../../domain/standby/scale-to-zero.ts'
import type { ScaleToZero } from '../../domain/standby/scale-to-zero.ts'
import { DiskFullError } from '../disk-room.ts'
import type { Reservation } from '../disk-room.ts'
import { guestMemoryMb } from '../../domain/host/memory-room.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import { vmOf } from '../instance/boot-end.ts'
import type { BootEnd } from '../instance/boot-end.ts'
import type { HostLeases } from './host-leases.ts'
import { HostStartError } from '../instance/host-start-error.ts'
import { withVolumeMade } from '../volumes/host-volumes.ts'
import type { HostVolumes } from '../volumes/host-volumes.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import {
  goesToSleep,
  memoryBootOf,
  newRecord,
  nicOf,
  permitOf,
  released,
  runs,
  withoutMemory,
} from '../instance/record.ts'
import type { InstanceRecord } from '../instance/record.ts'
import type { LaunchCopy } from '../instance/store.ts'
import { imageOf } from '../instance/launch-image.ts'
import { shutdownLimitMs } from '../instance/shutdown-limit.ts'
import { isPermitAlone, moveOf, standbyOf, StayAwake } from './stand-by-order.ts'
import { sampleUsage } from '../instance/usage-sample.ts'

/**
 * Carries out an order to stand by, and takes it back:
 *
 *   launch copy -> the guest agrees -> record of the order -> snapshot, or shutdown -> record of the sleep with its permit
 *
 * Before the record of the order is on disk, nothing has happened. Once it is, a new agent that finds the
 * record continues (`recovery.ts`). The permit exists once the record of the sleep is on disk. In every case
 * in which the VM goes on running, the guest's agreement is taken back.
 */
export class StandbyWork {
  readonly #ports: AgentPorts
  readonly #end: BootEnd
  readonly #leases: HostLeases
  readonly #volumes: HostVolumes

  constructor(parts: {
    readonly ports: AgentPorts
    readonly end: BootEnd
    readonly leases: HostLeases
    readonly volumes: HostVolumes
  }) {
    this.#ports = parts.ports
    this.#end = parts.end
    this.#leases = parts.leases
    this.#volumes = parts.volumes
  }

  /**
   * Carries the order out. Resolves when the order is over; the result is reported to `HostLeases`. Only one
   * order at a time for an instance.
   */
  async sleep(entry: InstanceEntry, order: StandByOrder): Promise<void> {
    const { boot } = order
    try {
      if (isPermitAlone(entry, order))
        await entry.queue.run(async () => await this.#leavePermit(entry, order))
      else await this.#sendToSleep(entry, order)
    } catch (error) {
      const failure = error instanceof StayAwake ? error.reason : StandByRefusal.SnapshotFailed
      if (!(error instanceof StayAwake)) this.#logFailure({ instance: entry.instanceUuid, boot }, error)
      this.#leases.tell(entry, { kind: 'stayed-awake', boot, reason: failure })
    }
  }

  #logFailure(subject: { readonly instance: string; readonly boot: number }, error: unknown): void {
    const { log } = this.#ports
    if (error instanceof HostStartError && error.failure === HostFailure.UnknownInstance) {
      log.info(subject, 'an order to stand by was overtaken by the deletion of its instance')
    } else log.error({ ...subject, err: error }, 'an order to stand by failed')
  }

  /**
   * Finishes a cold standby that was under way when the last agent died. Its guest had agreed, and nobody
   * was connected.
   */
  async finish(entry: InstanceEntry, order: StandByOrder): Promise<void> {
    await this.#shutDown(entry, order)
  }

  /**
   * Within `queue`. Takes the permit back: the instance may not be woken any more, and its boot that slept
   * is over.
   */
  async revoke(entry: InstanceEntry, throughBoot: number): Promise<void> {
    const { record } = entry
    if (record === undefined) return
    const { standby, started, ...rest } = released(record)
    // A boot whose memory slept has no exit. So the record must not keep the time of the start, or it would
    // look like that of a running boot.
    const kept = record.exit === undefined || started === undefined ? {} : { started }
    const stoppedThrough = Math.max(throughBoot, record.stoppedThrough ?? 0)
    await entry.save({ ...rest, ...kept, stoppedThrough }, { durable: true })
    entry.stoppedThroughBoot = Math.max(entry.stoppedThroughBoot, stoppedThrough)
    if (standby !== undefined)
      this.#ports.log.info({ instance: entry.instanceUuid, permit: standby.permit }, 'the permit is revoked')
    await this.drop(entry)
  }

  /**
   * Deletes what standby kept on disk. Within `queue`, and only if there is no permit. A repeated call finds
   * nothing to do.
   */
  async drop(entry: InstanceEntry): Promise<void> {
    const { vmm, store, log } = this.#ports
    const { record, instanceUuid } = entry
    entry.launch = undefined
    try {
      // The snapshot is deleted first: while a memory that used the volume exists, nobody else may hold the
      // volume.
      await vmm.dropSnapshot(store.directory(instanceUuid))
      await Promise.all([
        store.dropLaunch(instanceUuid),
        record === undefined ? undefined : this.#end.release(entry, record),
      ])
    } catch (error) {
      log.warn({ instance: instanceUuid, err: error }, 'what standby had kept could not be deleted')
      throw error
    }
  }

  /**
   * Within `queue`, and only while the instance sleeps: forgets what was kept for its wake, with its memory,
   * and fetches what the next boot is launched with. If that fails, the wake tries again. A repeated call has
   * the same effect.
   */
  async renew(entry: InstanceEntry): Promise<void> {
    const { vmm, store, log } = this.#ports
    const { record, instanceUuid } = entry
    if (record?.standby === undefined) return
    // From here on no wake goes on from the memory. What another host fetched before is worthless, too.
    const { move } = record
    const anew = move === undefined ? {} : { move: { ...move, holdUuid: randomUUID() } }
    await entry.save({ ...withoutMemory(record), ...anew }, { durable: true })
    entry.launch = undefined
    await vmm.dropSnapshot(store.directory(instanceUuid))
    await store.dropLaunch(instanceUuid)
    try {
      const { image } = await this.launchOf(entry, AbortSignal.timeout(renewLimitMs))
      // The digest in the record keeps the image on this host until the wake.
      if (entry.record !== undefined) await entry.save({ ...entry.record, imageDigest: image.digest })
    } catch (error) {
      log.warn(
        { instance: instanceUuid, err: error },
        'a changed instance could not be prepared for its wake',
      )
    }
  }

  /** Within `queue`. Keeps when the instance goes to standby, with what was kept for its wake. */
  async keepSettings(entry: InstanceEntry, scaleToZero: ScaleToZero): Promise<void> {
    const { launch } = entry
    if (launch === undefined) return
    const copy = { ...launch, spec: { ...launch.spec, scaleToZero } }
    const isOnDisk = mayStandBy(launch.spec.scaleToZero)
    if (isOnDisk || mayStandBy(scaleToZero)) await this.keepLaunch(entry, copy)
    else entry.launch = copy
  }

  /**
   * Returns what a wake needs. It is taken from memory, or else from disk, or else from the API and the
   * images, as for a start.
   */
  async launchOf(entry: InstanceEntry, signal: AbortSignal): Promise<LaunchCopy> {
    const { store, launches, images } = this.#ports
    entry.launch ??= await store.loadLaunch(entry.instanceUuid)
    if (entry.launch !== undefined) return entry.launch
    const told = await launches.launchSpec(entry.instanceUuid, signal)
    const isHeld = this.#volumes.heldBy(entry.instanceUuid) === told.volume?.uuid
    const spec = isHeld ? withVolumeMade(told) : told
    const image = await images.prepare(imageOf(spec), signal)
    await this.keepLaunch(entry, { spec, image })
    return { spec, image }
  }

  async launchForWake(entry: InstanceEntry, signal: AbortSignal): Promise<LaunchCopy> {
    const copy = await this.launchOf(entry, signal)
    if (!entry.imageDoubted) return copy
    const image = await this.#ports.images.prepare(imageOf(copy.spec), signal)
    entry.imageDoubted = false
    return { ...copy, image }
  }

  async keepLaunch(entry: InstanceEntry, copy: LaunchCopy): Promise<void> {
    await this.#ports.store.keepLaunch(entry.instanceUuid, copy)
    entry.launch = copy
  }

  async #leavePermit(entry: InstanceEntry, order: StandByOrder): Promise<void> {
    const { record, instanceUuid } = entry
    if (permitOf(record) !== order.permit) {
      if ((record !== undefined && record.boot > 0) || entry.stoppedThroughBoot >= order.permit) {
        throw new StayAwake(StandByRefusal.NotRunning)
      }
      const { spec } = await this.launchOf(entry, new AbortController().signal)
      const nic = nicOf(spec)
      const imageDigest = spec.image.slice(spec.image.indexOf('@') + 1)
      const { hostBootId } = this.#ports
      const { boot } = order
      const fresh = newRecord({ instanceUuid, boot, hostBootId, nic, imageDigest }, record)
      // This host keeps no memory of the instance, even if the instance had one on the host where it ran.
      const stateful = boot === 0 && order.stateful
      const standby = { ...standbyOf(order), stateful, atMs: this.#ports.nowMs() }
      await entry.save({ ...fresh, reported: true, standby, ...moveOf(order) }, { durable: true })
    }
    await this.#end.rest(entry)
    this.#leases.tell(entry, { kind: 'slept', boot: order.boot, memoryKept: false })
  }

  async #sendToSleep(entry: InstanceEntry, order: StandByOrder): Promise<void> {
    if (!order.stateful) {
      const record = await entry.queue.run(async () => await this.#agree(entry, order))
      await this.#shutDown(entry, order, record)
      return
    }
    const room = await entry.queue.run(async () => await this.#reserve(entry, order))
    try {
      await entry.queue.run(async () => await this.#agree(entry, order))
      await entry.queue.run(async () => await this.#suspend(entry, order))
    } finally {
      room.release()
    }
  }

  /**
   * Reserves room on disk for the whole memory before anything is written. At the end, what was written is
   * already missing from the free room, so the reservation is not needed any more.
   */
  async #reserve(entry: InstanceEntry, { boot }: StandByOrder): Promise<Reservation> {
    const { disk, store, log, nowMs } = this.#ports
    const { instanceUuid, record } = entry
    if (!runs(record) || record.boot !== boot) throw new StayAwake(StandByRefusal.NotRunning)
    const { spec } = await this.launchOf(entry, new AbortController().signal)
    const bytes = (guestMemoryMb(spec.memoryMb) + deviceStateMb) * mebibyte
    try {
      const room = await disk.reserve({ directory: store.directory(instanceUuid), bytes })
      entry.noRoom = undefined
      return room
    } catch (error) {
      if (!(error instanceof DiskFullError)) throw error
      const { neededMb, leftMb, figures } = error
      entry.noRoom = { boot, atMs: nowMs(), neededMb, leftMb }
      log.warn(
        { instance: instanceUuid, user: spec.userUuid, boot, neededMb, ...figures },
        'an instance stays awake: the disk of this host has no room for its memory',
      )
      throw new StayAwake(StandByRefusal.NoRoom)
    }
  }

  /**
   * Asks the guest and writes the order into the record. Throws `StayAwake` if the VM is to run on
   * unchanged.
   */
  async #agree(entry: InstanceEntry, order: StandByOrder): Promise<InstanceRecord> {
    const { vmm } = this.#ports
    await this.#end.settle(entry)
    const { record } = entry
    if (!runs(record) || record.boot !== order.boot || entry.stopAskedOfBoot >= order.boot) {
      throw new StayAwake(StandByRefusal.NotRunning)
    }
    const launch = await this.launchOf(entry, new AbortController().signal)
    // Without scale-to-zero nothing is kept for a wake, until a user asks for standby.
    if (!mayStandBy(launch.spec.scaleToZero)) await this.keepLaunch(entry, launch)
    if ((await vmm.askToSleep(vmOf(record))) === 'disabled') {
      await this.#end.settle(entry)
      throw new StayAwake(runs(entry.record) ? StandByRefusal.Disabled : StandByRefusal.NotRunning)
    }
    const ordered = { ...record, standby: standbyOf(order), ...moveOf(order) }
    await entry.save(ordered, { durable: true }).catch(async (error: unknown) => {
      await vmm.stayAwake(vmOf(record))
      throw error
    })
    return ordered
  }

  async #suspend(entry: InstanceEntry, order: StandByOrder): Promise<void> {
    const { record } = entry
    if (!goesToSleep(record)) throw new StayAwake(StandByRefusal.NotRunning)
    const usageOfBoot = { ...(await sampleUsage(this.#ports, record)), rssBytes: 0 }
    try {
      const { snapshotUuid } = await this.#ports.vmm.suspend(vmOf(record))
      await this.#end.noteAsleep(entry, { ...record, usageOfBoot }, { snapshotUuid })
    } catch (error) {
      if (!(error instanceof VmmError)) throw error
      this.#ports.log.warn(
        { instance: entry.instanceUuid, boot: order.boot, err: error },
        'no snapshot could be taken',
      )
      await this.stayAwake(entry)
      throw new StayAwake(runs(entry.record) ? StandByRefusal.SnapshotFailed : StandByRefusal.NotRunning)
    }
  }

  /** Within `queue`. Cancels the order and tells the guest that it stays awake. */
  async stayAwake(entry: InstanceEntry): Promise<void> {
    const { record } = entry
    if (!goesToSleep(record)) return
    const { standby: _ordered, ...rest } = released(record)
    await entry.save(rest)
    // If the VM has ended in the meantime, it ended by itself, and there is no guest to tell.
    if ((await this.#end.settle(entry)) === undefined) await this.#ports.vmm.stayAwake(vmOf(record))
  }

  async #shutDown(entry: InstanceEntry, order: StandByOrder, record = entry.record): Promise<void> {
    if (record === undefined) return
    const graceMs = entry.hostLease.hurried ? Math.min(order.graceMs, hurriedGraceMs) : order.graceMs
    entry.sleepAsked = true
    try {
      await this.#ports.vmm.shutdown(vmOf(record), { graceMs })
      await entry.ended(shutdownLimitMs(record, order.graceMs))
      await entry.queue.run(async () => {
        // `BootEnd.finish` makes the instance asleep when the VM ends.
        if (goesToSleep(entry.record)) await this.#end.kill(entry, 'forced')
      })
    } finally {
      entry.sleepAsked = false
    }
  }

  /**
   * Shortens the shutdown for standby, because somebody waits for the next boot. Before the shutdown signal
   * is sent, this does nothing: then the signal is sent with the short grace from the start.
   */
  hurry(entry: InstanceEntry): void {
    const { record } = entry
    if (!entry.sleepAsked || record === undefined) return
    this.#ports.vmm.shutdown(vmOf(record), { graceMs: hurriedGraceMs }).catch((error: unknown) => {
      this.#ports.log.warn({ instance: entry.instanceUuid, err: error }, 'a shutdown could not be shortened')
    })
  }

  /**
   * Within `queue`. Records the failure of a wake, on disk if there is room, so that the next agent goes on
   * with the back-off. The workflow is told either way.
   */
  async noteWakeFailure(
    entry: InstanceEntry,
    failed: { readonly boot: number; readonly count: number; readonly retryAtMs: number } & Pick<
      HostStartError,
      'failure' | 'message'
    >,
    due: boolean,
  ): Promise<void> {
    const { record } = entry
    if (record?.standby === undefined || permitOf(record) !== failed.boot) return
    const { count, retryAtMs, failure, message } = failed
    await entry.note({
      ...record,
      standby: { ...record.standby, wakeFailure: { count, retryAtMs, failure, message, due } },
    })
  }

  /** Within `queue`: reports a wake again, because a caller that asks for its sleep may not know of it. */
  async tellAgain(entry: InstanceEntry, permit: number): Promise<void> {
    const { record } = entry
    if (record?.boot !== permit || record.started === undefined) return
    await entry.save({ ...record, startDue: true, ...(record.exit === undefined ? {} : { reported: false }) })
    this.#end.news()
  }

  /** The `memoryBoot` for the record of the next boot. */
  memoryBootAfter(record: InstanceRecord): number | undefined {
    return record.standby?.stateful === true && record.standby.boot !== 0 ? memoryBootOf(record) : undefined
  }
}

const mebibyte = 1024 * 1024
/** How long a changed image may take to be fetched while its instance sleeps. A wake has to wait for that. */
const renewLimitMs = 60_000
/** The most that a snapshot takes besides the memory: the state of devices, and its description. */
const deviceStateMb = 8
