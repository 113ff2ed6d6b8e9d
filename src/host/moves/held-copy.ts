import { guestMemoryMb } from '../../domain/host/memory-room.ts'
import type { LaunchSpec } from '../../domain/host/api-protocol.ts'
import { consoleSegmentBytes, consoleSegmentsKept } from '../console/console-segments.ts'
import type { InstanceRecord } from '../instance/record.ts'
import type { SnapshotMachine } from '../vmm/vmm.ts'

/** What an old host keeps of an instance that it holds, as it tells the new host. */
export interface HeldCopy {
  readonly version: 1
  readonly holdUuid: string
  readonly record: InstanceRecord
  /** What the next boot is launched with. Absent if nothing was kept for a wake. It holds secrets. */
  readonly spec?: LaunchSpec
  readonly files: readonly HeldFile[]
  /** Present if the next boot goes on from a memory, whose files are then among `files`. */
  readonly memory?: HeldMemory
  /**
   * The volume that moves with it, of which the old host has a file of this length. Absent: it has none, or
   * the host is of an earlier version.
   */
  readonly volume?: {
    readonly uuid: string
    readonly bytes: number
    /** The copy that has what the volume has now, if one was made while the instance ran. */
    readonly copyUuid?: string
  }
}

export interface HeldFile {
  /** One of the names that `isHeldFileName` knows, or `volumeFileName`. */
  readonly name: string
  readonly bytes: number
}

/** What has to be the same at the new host for the memory to go on there. */
export interface HeldMemory {
  readonly snapshotKey: string
  readonly machine: SnapshotMachine
  /** See `fingerprint` in `root-disk.ts`. Absent if the VM has no root disk. */
  readonly rootDisk?: string
}

export const usageFileName = 'usage.ring'
/** The name of the volume among what is fetched. Its file is not in the instance's directory. */
export const volumeFileName = 'volume.img'
const memoryFileName = 'snapshot/memory'
/** The files of a snapshot. The first one is its record. */
export const snapshotFileNames = ['snapshot/snapshot.json', 'snapshot/guest', memoryFileName] as const
const consolePattern = /^console\/\d{16}\.log$/

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
/** Far more than the small files have: a ring of usage has 200 KiB, the description of a guest 100 bytes. */
const smallFileMaxBytes = mebibyte
/** The console may have begun its next segment before the oldest one is dropped. */
export const heldFilesMax = 1 + snapshotFileNames.length + consoleSegmentsKept + 1
/** A copy is told as JSON. The largest part is the environment of the instance, which has 2 MiB at most. */
export const heldCopyMaxBytes = 8 * mebibyte

/**
 * Whether a file has a name that is copied. The names are relative paths in an instance's directory. There
 * is no other, so a host that lies can not make the other one read or write anything else.
 */
export function isHeldFileName(name: string): boolean {
  return name === usageFileName || isSnapshotFile({ name }) || consolePattern.test(name)
}

export function isSnapshotFile({ name }: Pick<HeldFile, 'name'>): boolean {
  return (snapshotFileNames as readonly string[]).includes(name)
}

/** The most bytes that a file with this name can have. */
export function maxBytesOf(name: string, spec: Pick<LaunchSpec, 'memoryMb'> | undefined): number {
  if (consolePattern.test(name)) return consoleSegmentBytes
  if (name !== memoryFileName) return smallFileMaxBytes
  // QEMU writes 8 bytes beside each page of 4 KiB, and some MiB for devices.
  return spec === undefined ? 0 : Math.ceil(guestMemoryMb(spec.memoryMb) * 1.01 + 16) * mebibyte
}

/** Says what is wrong with the files of a copy. Undefined if nothing is. */
export function excessOf({ files, spec, memory }: HeldCopy): string | undefined {
  if (!Array.isArray(files) || files.length > heldFilesMax) return `it has over ${heldFilesMax} files`
  for (const { name, bytes } of files) {
    if (!isHeldFileName(name)) return 'it names a file that is never copied'
    const maxBytes = maxBytesOf(name, spec)
    if (!Number.isSafeInteger(bytes) || bytes < 0 || bytes > maxBytes)
      return `${name} has ${bytes} bytes, but at most ${maxBytes}`
  }
  if (new Set(files.map(({ name }) => name)).size !== files.length) return 'it names a file twice'
  const hasSnapshot = files.some(({ name }) => name === snapshotFileNames[0])
  return memory !== undefined && !hasSnapshot ? 'it has a memory without its files' : undefined
}
