import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { StartKind } from '../../domain/instance/start-report.ts'

/**
 * What is written down of a VM before it exists, in `<instance directory>/vm/vm.json`. Together with the
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
  /** The boot of the host: a record from an earlier one tells of a VM that went down with it. */
  readonly hostBootId: string
  /** Whose process it is; absent without root, and in records of earlier versions. */
  readonly ownerUid?: number
  /**
   * What a snapshot of it needs to fit a later start; absent in records of earlier versions, whose VMs can
   * not sleep.
   */
  readonly snapshotKey?: string
  /**
   * What its instance asked for; absent in records of earlier versions, which then count with the least there
   * is.
   */
  readonly memoryMb?: number
  /** Whose instance it is; absent in records of earlier versions. */
  readonly userUuid?: string
  /** Of its control groups, where it has any (`ControlGroups`). */
  readonly group?: string
}

const recordName = 'vm.json'

export function vmDirectory(instanceDirectory: string): string {
  return path.join(instanceDirectory, 'vm')
}

export async function writeVmRecord(directory: string, record: VmRecord): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const temporary = path.join(directory, `${recordName}.new`)
  await writeFile(temporary, JSON.stringify(record), { mode: 0o600 })
  await rename(temporary, path.join(directory, recordName))
}

/** Undefined where there is none; a record of a schema that is not known is none. */
export async function readVmRecord(directory: string): Promise<VmRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(path.join(directory, recordName), 'utf8')) as VmRecord
    return record.schemaVersion === 1 ? record : undefined
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

/** Renamed first: a keeper that is only just starting finds no directory and gives up. */
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

/** Of the directories below a directory of instances. */
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
