import { mkdir, readFile, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { keptFiles, understands } from '../../domain/protocols.ts'
import { replaceFile } from '../../primitives/replace-file.ts'
import type { StartKind } from '../../domain/instance/start-report.ts'

/**
 * The record of a VM, written to `<instance directory>/vm/vm.json` before the VM exists. Together with the
 * keeper's `events` beside it, it is everything a new agent needs to find the VM again.
 */
export interface VmRecord {
  readonly schemaVersion: 1
  readonly instanceUuid: string
  readonly boot: number
  readonly guest: 'container' | 'kernel'
  readonly kind: StartKind
  /** When the start was asked for, microseconds since the epoch. */
  readonly askedAtUs: number
  /** The boot of the host. A record from an earlier boot describes a VM that ended with that boot. */
  readonly hostBootId: string
  /** The user of the VM's process; absent without root, and in records of earlier versions. */
  readonly ownerUid?: number
  /**
   * The key that a later start must have to continue from a snapshot of this VM. Absent in records of
   * earlier versions, whose VMs can not sleep.
   */
  readonly snapshotKey?: string
  /**
   * The memory that the instance asked for. Absent in records of earlier versions. Their VMs count with the
   * least memory of a guest.
   */
  readonly memoryMb?: number
  /** The user of the instance; absent in records of earlier versions. */
  readonly userUuid?: string
  /** The name of the VM's control groups (`ControlGroups`); absent if the VM has none. */
  readonly group?: string
  /** Whether the VM's keeper ends the VM with the host's term. Keepers of earlier versions do not. */
  readonly keepsTerm?: boolean
}

const recordName = 'vm.json'

export function vmDirectory(instanceDirectory: string): string {
  return path.join(instanceDirectory, 'vm')
}

export async function writeVmRecord(directory: string, record: VmRecord): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await replaceFile(path.join(directory, recordName), JSON.stringify(record), { mode: 0o600 })
}

/** Undefined if there is no record, or if its version is not understood. */
export async function readVmRecord(directory: string): Promise<VmRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(path.join(directory, recordName), 'utf8')) as VmRecord
    return understands(keptFiles.vmRecord, record.schemaVersion) ? record : undefined
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The VM directories below a directory of instances that hold a record. */
export async function findVmRecords(
  instancesDirectory: string,
): Promise<readonly { readonly directory: string; readonly record: VmRecord }[]> {
  const found = []
  for (const name of await instanceNames(instancesDirectory)) {
    const directory = vmDirectory(path.join(instancesDirectory, name))
    const record = await readVmRecord(directory)
    if (record !== undefined) found.push({ directory, record })
  }
  return found
}

/**
 * Deletes the directory of a VM. It is renamed first: a keeper that is just starting then does not find it,
 * and gives up.
 */
export async function removeVmDirectory(directory: string): Promise<void> {
  const doomed = `${directory}.removed`
  await rm(doomed, { recursive: true, force: true })
  try {
    await rename(directory, doomed)
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  await rm(doomed, { recursive: true, force: true })
}

/** The names in a directory of instances. */
export async function instanceNames(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
