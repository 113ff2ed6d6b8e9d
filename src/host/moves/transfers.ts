import type { MoveSource } from '../instance/record.ts'
import type { MirrorTarget, VolumeMirror } from '../vmm/volume-mirror.ts'
import type { HeldCopy, HeldFile } from './held-copy.ts'
import { slowestBytesPerMs } from './transfer-pace.ts'

/**
 * How long the new host waits for one file, with the wait for a turn, and for the answer that tells the
 * files: each counts with its bytes before they are compressed. `TransferPace` ends it earlier if it is slow.
 */
export function transferLimitMs(bytes: number): number {
  return setUpMs + Math.ceil(bytes / slowestBytesPerMs)
}

const setUpMs = 60_000
/** How many files a host sends at once, and how many instances it fetches. More would only share the wire. */
export const transfersAtOnce = 4
/** How many of them with the same other host: one that is slow, or means to be, leaves turns for others. */
export const transfersPerHost = 2

/**
 * The port by which hosts fetch instances from each other. All calls between machines go through the mesh,
 * which encrypts them and proves from which machine each one comes.
 */
export interface Transfers {
  /**
   * Lets exactly these machines fetch what `source` gives them, and returns the port at which they do. It is
   * `port` if that is free, or was chosen before. No addresses: nobody.
   */
  serve(
    source: HeldSource,
    to: { readonly addresses: readonly string[]; readonly port?: number },
  ): Promise<number>
  /**
   * What the old host keeps of the instance. Throws `TransferError` if it does not hold it for this host.
   */
  copyOf(from: MoveSource, instanceUuid: string, signal: AbortSignal): Promise<HeldCopy>
  /**
   * Fetches one file of the copy. It is durable once this has resolved, and has the length that the copy
   * told and the checksum of what the old host read. After a failure, a part may be left.
   */
  fetchFile(wanted: WantedFile, signal: AbortSignal): Promise<TransferCount>
  /**
   * Copies a volume that the old host offers, and follows what its VM writes. Resolves with the name of the
   * copy once the VM sleeps and the file has, durably, what the volume had then. Fails if the VM ends in any
   * other way, or never begins to sleep.
   */
  followVolume(wanted: WantedVolume, signal: AbortSignal): Promise<string>
  /** Tells the old host that the instance is this host's, so that it deletes what it has of that hold. */
  tellTaken(from: MoveSource, hold: HoldName, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export interface HoldName {
  readonly instanceUuid: string
  readonly holdUuid: string
}

export interface WantedFile {
  readonly from: MoveSource
  readonly instanceUuid: string
  readonly file: HeldFile
  /** Where it is written. There is no file there yet, unless `isMade` says so. */
  readonly path: string
  /** The file is there, with this length and nothing but a hole in it. */
  readonly isMade?: true
}

export interface WantedVolume {
  readonly from: MoveSource
  readonly instanceUuid: string
  readonly bytes: number
  /** A file with this length, and nothing but a hole in it. */
  readonly path: string
  /** Called once the file has had all of the volume, durably. */
  readonly onReady: () => void
}

export interface TransferCount {
  readonly bytes: number
  readonly compressedBytes: number
}

/** What a host tells of the instances that it holds. Each answer is for one machine in the mesh. */
export interface HeldSource {
  /** Undefined if the instance is not held for the machine with this address. */
  copyFor(instanceUuid: string, address: string): Promise<HeldCopy | undefined>
  /** A file of the copy. Undefined if it is not for that machine, or not there. */
  fileFor(instanceUuid: string, address: string, name: string): Promise<FileOfHold | undefined>
  /** A volume that the machine with this address may copy. Undefined if none is offered to it. */
  volumeFor(instanceUuid: string, address: string): OfferedVolume | undefined
  /** False if that hold is not there for that machine. */
  taken(hold: HoldName, address: string): Promise<boolean>
}

export interface OfferedVolume {
  /** Both hosts know the copy by this name. */
  readonly copyUuid: string
  readonly bytes: number
  /** Begins to copy it. Throws if that is impossible now. */
  mirror(target: MirrorTarget): Promise<VolumeMirror>
}

export interface FileOfHold {
  readonly path: string
  /**
   * False once that hold is over. What is read of the file then may have been written by the instance after
   * it, and is for nobody else.
   */
  isHeld(): boolean
}

/** An instance could not be fetched. `message` is for people. */
export class TransferError extends Error {
  override readonly name: string = 'TransferError'
}

/** The host could be reached, and says that it does not hold the instance for this one. */
export class NotHeldError extends TransferError {
  override readonly name = 'NotHeldError'
}

/** What another host tells may be long, or not even be text. This is what people get to read of it. */
export function shortened(text: unknown): string {
  const whole = String(text)
  return whole.length <= toldMaxLength ? whole : `${whole.slice(0, toldMaxLength - 1)}…`
}

const toldMaxLength = 300
