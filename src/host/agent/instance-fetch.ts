import { join } from 'node:path'
import { HostFailure } from '../../domain/instance/host-work.ts'
import type { FetchResult, MoveActivities, MovedVolume } from '../../domain/instance/host-work.ts'
import { isUuid } from '../../domain/object-name.ts'
import { keptFiles, understands, wires } from '../../domain/protocols.ts'
import { DiskFullError } from '../disk-room.ts'
import type { Reservation } from '../disk-room.ts'
import { ImageError } from '../images/images.ts'
import type { PreparedImage } from '../images/images.ts'
import { InstanceEntry } from '../instance/entry.ts'
import { HostStartError } from '../instance/host-start-error.ts'
import { imageOf } from '../instance/launch-image.ts'
import { memoryWaits, permitOf, runs, withoutMemory } from '../instance/record.ts'
import type { InstanceRecord, Move } from '../instance/record.ts'
import type { LaunchCopy } from '../instance/store.ts'
import { recoveredHostLease } from '../leases/recovered-lease.ts'
import { excessOf, isSnapshotFile, volumeFileName } from '../moves/held-copy.ts'
import type { HeldCopy, HeldFile } from '../moves/held-copy.ts'
import { fingerprint } from '../moves/root-disk.ts'
import { shortened, TransferError } from '../moves/transfers.ts'
import type { Transfers } from '../moves/transfers.ts'
import type { AgentPorts } from './agent-ports.ts'
import type { MovingVolumes } from './moving-volumes.ts'
import type { VolumeCopies } from './volume-copies.ts'

export type FetchInput = Parameters<MoveActivities['fetchInstance']>[0]

interface Fetched {
  readonly result: FetchResult
  readonly launch: LaunchCopy | undefined
}

/**
 * Fetches one instance from the host that holds it:
 *
 *   what it has -> its image, and whether the memory fits -> room on the disk -> its files, beside the instances
 *     -> its volume, beside the volumes, unless it was copied before -> one rename makes it an instance of this host, which is held
 *
 * Before the rename, nothing of it is here. A new agent deletes what was fetched in part, and a repeat
 * begins again. After it, a repeat finds the instance. `signal` ends the work at any time.
 *
 * A volume that was fetched can not be used by anybody before the instance is taken. Whether the row names
 * this host is asked of the API before a copy that is here is dropped: it may be the only one by now.
 */
export class InstanceFetch {
  readonly #ports: AgentPorts
  readonly #transfers: Transfers
  readonly #entries: Map<string, InstanceEntry>
  readonly #volumes: MovingVolumes
  readonly #copies: VolumeCopies
  readonly #clear: (instanceUuid: string) => Promise<void>
  readonly #noteBack: (instanceUuid: string) => void

  constructor(parts: {
    readonly ports: AgentPorts
    readonly transfers: Transfers
    readonly entries: Map<string, InstanceEntry>
    readonly volumes: MovingVolumes
    readonly copies: VolumeCopies
    /** Deletes what an earlier stay of the instance left here. */
    readonly clear: (instanceUuid: string) => Promise<void>
    /** Is told that the instance is here, even if it moved away earlier. */
    readonly noteBack: (instanceUuid: string) => void
  }) {
    this.#ports = parts.ports
    this.#transfers = parts.transfers
    this.#entries = parts.entries
    this.#volumes = parts.volumes
    this.#copies = parts.copies
    this.#clear = parts.clear
    this.#noteBack = parts.noteBack
  }

  async run(input: FetchInput, signal: AbortSignal): Promise<FetchResult> {
    try {
      return await this.#run(input, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw asToldShortly(error)
    }
  }

  async #run(input: FetchInput, signal: AbortSignal): Promise<FetchResult> {
    const { instanceUuid, from } = input
    const taken = await this.#takenBefore(input)
    if (taken !== undefined) return taken
    const copy = await this.#transfers.copyOf(from, instanceUuid, signal)
    requireFit(copy, input)
    const known = this.#entries.get(instanceUuid)?.record?.move
    // What this host holds is the only copy.
    if (known?.role === 'old') throw new HostStartError(HostFailure.BootFailed, ownHold, { final: true })
    if (known?.role === 'new' && known.holdUuid === copy.holdUuid) return known.fetched
    const { volume } = input
    if (volume !== undefined) {
      await this.#volumes.requireArrivable(volume, instanceUuid)
    }
    if (this.#entries.has(instanceUuid)) await this.#clear(instanceUuid)
    const fetched = await this.#prepare(copy, signal)
    const isKept = fetched.result.memory === 'kept'
    const files = copy.files.filter((file) => isKept || !isSnapshotFile(file))
    const result = { ...fetched.result, ...(volume !== undefined && { volumeUuid: volume.uuid }) }
    const move = { role: 'new', from, holdUuid: copy.holdUuid, fetched: result } as const
    const record = arrivedRecord(copy.record, { hostBootId: this.#ports.hostBootId, move })
    await this.#copyFiles(input, files, signal)
    try {
      if (volume !== undefined && !(await this.#copies.takeOver(volume, copy.volume?.copyUuid, signal)))
        await this.#copyVolume(input, volume, signal)
      await this.#requireSameHold(copy, input, signal)
      signal.throwIfAborted()
      if (volume !== undefined) await this.#ports.volumes.finishArrival(volume.uuid, instanceUuid)
    } catch (error) {
      await this.#dropArrival(input)
      throw error
    }
    await this.#ports.store.finishArrival(record, fetched.launch)
    this.#admit(record, fetched.launch)
    return result
  }

  /**
   * The instance is this host's already, and a late attempt finds it as it is. If its volume is not here, an
   * earlier stay left the instance.
   */
  async #takenBefore({ instanceUuid, boot, volume: wanted }: FetchInput): Promise<FetchResult | undefined> {
    const { record, job } = this.#entries.get(instanceUuid) ?? {}
    if (record === undefined || record.move !== undefined || record.boot < boot) return undefined
    if (runs(record) || job !== undefined)
      throw new HostStartError(HostFailure.BootFailed, 'the instance runs on this host', { final: true })
    const { volume } = record
    if (wanted !== undefined && !(await this.#ports.volumes.uuids()).includes(wanted.uuid)) return undefined
    const memory = memoryWaits(record) ? 'kept' : 'none'
    return { memory, ...(volume !== undefined && { volumeUuid: volume.uuid }) }
  }

  /** Makes the image ready, so that the wake is fast, and decides about the memory before it is fetched. */
  async #prepare({ spec, memory, record }: HeldCopy, signal: AbortSignal): Promise<Fetched> {
    if (spec === undefined) return { result: { memory: 'none' }, launch: undefined }
    const { images, vmm, log } = this.#ports
    let image: PreparedImage
    try {
      image = await images.prepare(imageOf(spec), signal)
    } catch (error) {
      // Whether the memory fits is not known without the image, and another attempt may get it. Without a
      // memory, the wake tries again.
      if (memory !== undefined || signal.aborted) throw error
      log.warn({ instance: spec.uuid, err: error }, 'the image of an instance that moves here is not ready')
      return { result: { memory: 'none' }, launch: undefined }
    }
    const launch = { spec, image }
    if (memory === undefined) return { result: { memory: 'none' }, launch }
    const { ip, mac } = record.nic
    const { memoryMb, vcpus, volume } = spec
    const shape = { memoryMb, vcpus, image, nic: { ip, mac }, ...(volume && { volume }) }
    const misfit = vmm.snapshots.misfitOf(memory, shape)
    const isSameDisk = (await fingerprint(image)) === memory.rootDisk
    const why = misfit ?? (isSameDisk ? undefined : 'the image was unpacked in another way there')
    return {
      result: why === undefined ? { memory: 'kept' } : { memory: 'unfit', why: shortened(why) },
      launch,
    }
  }

  async #copyFiles(input: FetchInput, files: readonly HeldFile[], signal: AbortSignal): Promise<void> {
    const { store, log } = this.#ports
    const { instanceUuid: instance, from } = input
    const began = performance.now()
    const directory = await store.beginArrival(instance)
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    const room = await this.#reserve(directory, bytes)
    log.info({ instance, from: from.nodeId, bytes }, 'an instance is fetched from another host')
    let compressedBytes = 0
    try {
      for (const file of files) {
        const wanted = { from, instanceUuid: instance, file, path: join(directory, file.name) }
        compressedBytes += (await this.#transfers.fetchFile(wanted, signal)).compressedBytes
      }
    } catch (error) {
      await store.dropArrival(instance).catch(() => undefined)
      throw error
    } finally {
      room.release()
    }
    const ms = Math.round(performance.now() - began)
    log.info({ instance, from: from.nodeId, bytes, compressedBytes, ms }, 'an instance was fetched')
  }

  async #copyVolume({ instanceUuid, from }: FetchInput, volume: MovedVolume, signal: AbortSignal) {
    const { volumes, log } = this.#ports
    const { uuid, sizeMb } = volume
    const began = performance.now()
    const path = await volumes.beginArrival(volume)
    const file = { name: volumeFileName, bytes: sizeMb * mebibyte }
    const wanted = { from, instanceUuid, file, path, isMade: true } as const
    const { bytes, compressedBytes } = await this.#transfers.fetchFile(wanted, signal)
    const ms = Math.round(performance.now() - began)
    log.info({ volume: uuid, from: from.nodeId, bytes, compressedBytes, ms }, 'a volume was fetched')
  }

  /**
   * A failure here leaves something that the next fetch or the next agent deletes. A volume that arrived as a
   * whole is left to `MovingVolumes.settle`, which asks the API.
   */
  async #dropArrival({ instanceUuid, volume }: FetchInput): Promise<void> {
    const { store, volumes } = this.#ports
    await store.dropArrival(instanceUuid).catch(() => undefined)
    if (volume !== undefined) await volumes.cancelArrival(volume.uuid).catch(() => undefined)
  }

  /** If the instance ran or changed while its files were read, they may not belong together. */
  async #requireSameHold({ holdUuid }: HeldCopy, { from, instanceUuid }: FetchInput, signal: AbortSignal) {
    const now = await this.#transfers.copyOf(from, instanceUuid, signal)
    if (now.holdUuid !== holdUuid) throw new TransferError(`it changed on host ${from.nodeId} meanwhile`)
  }

  async #reserve(directory: string, bytes: number): Promise<Reservation> {
    try {
      return await this.#ports.disk.reserve({ directory, bytes })
    } catch (error) {
      if (!(error instanceof DiskFullError)) throw error
      throw new HostStartError(HostFailure.HostFull, error.message, { cause: error })
    }
  }

  /** From here on the instance is known, and held. */
  #admit(record: InstanceRecord, launch: LaunchCopy | undefined): void {
    const { store, nowMs } = this.#ports
    const entry = new InstanceEntry(record.instanceUuid, store, record)
    entry.launch = launch
    entry.hostLease = recoveredHostLease({ record, launch, status: undefined, nowMs: nowMs() })
    this.#entries.set(record.instanceUuid, entry)
    this.#noteBack(record.instanceUuid)
  }
}

/** The other host's words are in the workflow's history and in what users read, so there are few of them. */
export function asToldShortly(error: unknown): unknown {
  if (error instanceof TransferError) {
    const message = shortened(`the instance could not be fetched: ${error.message}`)
    return new HostStartError(HostFailure.BootFailed, message, { cause: error })
  }
  // An image can not be had under a name that the other host told.
  if (error instanceof ImageError) return new ImageError(error.failure, shortened(error.message))
  return error
}

const mebibyte = 1024 * 1024
const ownHold = 'this host holds the instance for a move to another one'

/** Whether both write to the same files. */
export function isAlike(one: FetchInput, other: FetchInput): boolean {
  if (one.instanceUuid === other.instanceUuid) return true
  return one.volume !== undefined && one.volume.uuid === other.volume?.uuid
}

export function isSame(one: FetchInput, other: FetchInput): boolean {
  return (
    one.instanceUuid === other.instanceUuid &&
    one.boot === other.boot &&
    one.permit === other.permit &&
    one.volume?.uuid === other.volume?.uuid &&
    one.from.address === other.from.address &&
    one.from.port === other.from.port
  )
}

/** Throws if the copy is not of the instance as its workflow knows it, or is larger than it can be. */
export function requireFit(copy: HeldCopy, input: FetchInput): void {
  const { instanceUuid, boot, permit, from, volume } = input
  if (!isCopy(copy)) throw unusable(from, 'it is no copy of an instance')
  const { record, spec } = copy
  const isKnown =
    understands(wires.moves, copy.version) && understands(keptFiles.instanceRecord, record.version)
  const isOf = record.instanceUuid === instanceUuid && permitOf(record) === permit
  const slept = permit === undefined ? record.boot : record.standby?.boot
  const isBoot = permit === undefined ? record.boot <= boot : slept === boot
  const isPlain = spec === undefined || (spec.uuid === instanceUuid && spec.volume?.uuid === volume?.uuid)
  const excess = isOf && isBoot && isPlain ? excessOf(copy) : 'it is not what was ordered to move'
  if (!isKnown) throw unusable(from, 'it is of another version')
  if (!isSameVolume(copy, input)) throw unusable(from, 'it has another volume, or none')
  if (excess !== undefined) throw unusable(from, excess)
}

function isSameVolume({ volume: told }: HeldCopy, { volume }: FetchInput): boolean {
  if (told === undefined || volume === undefined) return told === volume
  return told.uuid === volume.uuid && told.bytes === volume.sizeMb * mebibyte
}

function unusable({ nodeId }: FetchInput['from'], why: string): TransferError {
  return new TransferError(shortened(`what host ${nodeId} has can not be used: ${why}`))
}

/** The name of the hold is kept, and is sent back in an address. */
function isCopy(copy: Partial<HeldCopy> | null): boolean {
  const { record, holdUuid } = copy ?? {}
  return record instanceof Object && typeof holdUuid === 'string' && isUuid(holdUuid)
}

/**
 * The record of an instance that arrived. What the old host still had to report was reported there: the
 * workflow knew how the instance rested when it ordered the move. The old host's seat is of no use here.
 */
function arrivedRecord(
  told: InstanceRecord,
  { hostBootId, move }: { readonly hostBootId: string; readonly move: Extract<Move, { role: 'new' }> },
): InstanceRecord {
  const { nicBase: _counted, volume: _none, wakingDueMs: _told, startDue: _known, nic, ...kept } = told
  const { seat: _left, ...ownNic } = nic
  const { wakeFailure: _past, ...standby } = kept.standby ?? {}
  const arrived = {
    ...kept,
    ...(kept.standby !== undefined && { standby: standby as NonNullable<InstanceRecord['standby']> }),
    nic: ownNic,
    hostBootId,
    reported: true,
    move,
  }
  return move.fetched.memory === 'kept' ? arrived : withoutMemory(arrived)
}
