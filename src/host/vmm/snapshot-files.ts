import { readFileSync } from 'node:fs'
import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { keptFiles, understands } from '../../domain/protocols.ts'
import { isMissing } from './vm-record.ts'

/**
 * The record in the snapshot of an instance. The snapshot is a directory beside the one of the VM. The
 * directory's name says how far the snapshot got. A name changes in one step, so there is never half a
 * snapshot, and none is used twice:
 *
 *   snapshot.new   is being written; what a dead agent or keeper left here is worthless
 *   snapshot       complete and durable: the instance sleeps, nothing of it runs
 *   snapshot.used-<boot of the host>
 *                  a VM goes on from it, or was about to; if no VM ever existed, the name is changed back
 *   snapshot.old   is being deleted
 */
export interface SnapshotRecord {
  readonly schemaVersion: 1
  readonly uuid: string
  /** The instance's boot whose memory it holds. */
  readonly boot: number
  /**
   * A hash of everything that must be the same for the VM that continues from the snapshot
   * (`snapshotKeyOf`).
   */
  readonly snapshotKey: string
}

const recordName = 'snapshot.json'

export function snapshotDirectory(instanceDirectory: string): string {
  return path.join(instanceDirectory, 'snapshot')
}

export function newSnapshotDirectory(instanceDirectory: string): string {
  return path.join(instanceDirectory, 'snapshot.new')
}

const usedPrefix = 'snapshot.used'

/**
 * The directory of a used snapshot. Its name holds the host's boot. After a reboot nobody can tell whether a
 * VM went on from a used snapshot, because the disk may show an older state. So a snapshot that was taken in
 * an earlier boot of the host is never found again.
 */
function usedSnapshotDirectory(instanceDirectory: string, hostBootId: string): string {
  return path.join(instanceDirectory, `${usedPrefix}-${hostBootId}`)
}

/** Makes the directory of a new snapshot and writes its record. */
export async function beginSnapshot(instanceDirectory: string, record: SnapshotRecord): Promise<void> {
  const directory = newSnapshotDirectory(instanceDirectory)
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const file = await open(path.join(directory, recordName), 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify(record))
    await file.sync()
  } finally {
    await file.close()
  }
}

export async function abandonSnapshot(instanceDirectory: string): Promise<void> {
  await rm(newSnapshotDirectory(instanceDirectory), { recursive: true, force: true })
}

/** Reads the record of the complete snapshot, if there is one. */
export async function readSnapshot(instanceDirectory: string): Promise<SnapshotRecord | undefined> {
  try {
    const text = await readFile(path.join(snapshotDirectory(instanceDirectory), recordName), 'utf8')
    const record = JSON.parse(text) as SnapshotRecord
    return understands(keptFiles.snapshotRecord, record.schemaVersion) ? record : undefined
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Whether the complete snapshot, if there is one, was made of this boot. */
export function hasSnapshotOf(instanceDirectory: string, boot: number): boolean {
  try {
    const text = readFileSync(path.join(snapshotDirectory(instanceDirectory), recordName), 'utf8')
    return (JSON.parse(text) as SnapshotRecord).boot === boot
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return false
    throw error
  }
}

/**
 * Uses the snapshot up: from now on nobody else finds it, even if the start fails. Resolves with the
 * directory that holds it now.
 */
export async function takeSnapshot(instanceDirectory: string, hostBootId: string): Promise<string> {
  await disposeSnapshot(instanceDirectory)
  const used = usedSnapshotDirectory(instanceDirectory, hostBootId)
  await rename(snapshotDirectory(instanceDirectory), used)
  return used
}

/**
 * Gives a taken snapshot its old name back. The caller makes sure that no VM ever went on from it: the
 * process that had taken it died before it could start one.
 */
export async function returnSnapshot(instanceDirectory: string, hostBootId: string): Promise<void> {
  try {
    await rename(usedSnapshotDirectory(instanceDirectory, hostBootId), snapshotDirectory(instanceDirectory))
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** Deletes the files of used snapshots. */
export async function disposeSnapshot(instanceDirectory: string): Promise<void> {
  for (const name of await instanceFiles(instanceDirectory)) {
    if (name.startsWith(usedPrefix))
      await rm(path.join(instanceDirectory, name), { recursive: true, force: true })
  }
}

async function instanceFiles(instanceDirectory: string): Promise<readonly string[]> {
  try {
    return await readdir(instanceDirectory)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/**
 * Deletes all snapshots of the instance: the new one, the used ones and the complete one. The complete one
 * is renamed first, so that after a crash its remains are not taken for a snapshot.
 */
export async function deleteSnapshot(instanceDirectory: string): Promise<void> {
  await abandonSnapshot(instanceDirectory)
  await disposeSnapshot(instanceDirectory)
  const old = path.join(instanceDirectory, 'snapshot.old')
  await rm(old, { recursive: true, force: true })
  try {
    await rename(snapshotDirectory(instanceDirectory), old)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  await rm(old, { recursive: true, force: true })
}
