import { randomUUID } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { VmHandle } from './vm-handle.ts'
import type { SnapshotSource } from './machine-plan.ts'
import {
  abandonSnapshot,
  beginSnapshot,
  deleteSnapshot,
  disposeSnapshot,
  readSnapshot,
  takeSnapshot,
} from './snapshot-files.ts'
import { VmmError } from './vmm.ts'
import type { VmName, VmSpec } from './vmm.ts'

/**
 * How long a guest may take to answer, which usually takes a millisecond. A guest that takes longer than
 * this limit is too busy to sleep.
 */
const answerLimitMs = 2_000
/** The keeper gives up after a minute; this limit is for a keeper that does not answer at all. */
const suspendLimitMs = 70_000

/** Asks the guest whether it may sleep. A guest that does not answer stays awake. */
export async function askToSleep(vm: VmHandle): Promise<'ready' | 'disabled'> {
  if (vm.record.guest === 'kernel') return 'ready'
  try {
    const answer = await vm.ask('sleep?', 'sleep', AbortSignal.timeout(answerLimitMs))
    if (answer === 'ready') return 'ready'
  } catch {
    vm.stayAwake()
  }
  return 'disabled'
}

/**
 * Resolves with the snapshot's uuid once it is durable and the VM's process is gone. The keeper does all the
 * work. If this process dies meanwhile, the keeper completes the snapshot if it has got far enough, and else
 * lets the VM go on.
 */
export async function suspendVm(vm: VmHandle): Promise<string> {
  const { snapshotKey } = vm.record
  if (snapshotKey === undefined) throw new VmmError('BootFailed', 'the VM is of an old version')
  const directory = path.dirname(vm.directory)
  const earlier = await settle(vm, directory)
  if (earlier !== undefined) return earlier
  const uuid = randomUUID()
  await deleteSnapshot(directory)
  await beginSnapshot(directory, { schemaVersion: 1, uuid, boot: vm.record.boot, snapshotKey })
  let why: string | undefined
  try {
    why = await vm.ask('suspend', 'suspend failed', AbortSignal.timeout(suspendLimitMs))
  } catch {
    why = 'the VM does not answer'
  }
  if (vm.isSuspended) return uuid
  await abandonSnapshot(directory)
  throw new VmmError('BootFailed', `the VM could not be suspended: ${why ?? 'it ended'}`)
}

/** The snapshot that a VM became in an earlier call. */
export async function earlierSnapshot(
  instancesDirectory: string,
  { instanceUuid, boot }: VmName,
): Promise<{ readonly snapshotUuid: string }> {
  const snapshot = await readSnapshot(path.join(instancesDirectory, instanceUuid))
  if (snapshot?.boot === boot) return { snapshotUuid: snapshot.uuid }
  throw new VmmError('BootFailed', `there is no boot ${boot} of ${instanceUuid} to suspend`)
}

/**
 * Waits until a suspension that an earlier agent began is over. Returns the snapshot's uuid if the VM became
 * one.
 */
async function settle(vm: VmHandle, directory: string): Promise<string | undefined> {
  try {
    await vm.ask('settle', 'settled', AbortSignal.timeout(suspendLimitMs))
  } catch (cause) {
    throw new VmmError('BootFailed', 'the VM could not be suspended: its keeper does not answer', { cause })
  }
  if (!vm.isSuspended) return undefined
  return (await readSnapshot(directory))?.uuid
}

export interface TakenSnapshot extends SnapshotSource {
  /**
   * Resolves when the snapshot counts as used even after a power failure. Rejects with `VmmError` if the disk
   * failed to write that.
   */
  readonly marked: Promise<void>
  /** Deletes the files of the snapshot. */
  dispose(): Promise<void>
}

/**
 * Uses up the snapshot of an instance. Undefined if there is no snapshot that fits. The snapshot gets a new
 * name, which is written to the disk while the VM is being loaded; `dispose` waits until that has ended.
 */
export async function takeFittingSnapshot(
  instanceDirectory: string,
  snapshotKey: string,
  hostBootId: string,
): Promise<TakenSnapshot | undefined> {
  const record = await readSnapshot(instanceDirectory)
  if (record === undefined) {
    // There is no snapshot, or one that can not be read.
    await deleteSnapshot(instanceDirectory)
    return undefined
  }
  const directory = await takeSnapshot(instanceDirectory, hostBootId)
  const marked = markUsed(instanceDirectory)
  const markEnded = marked.catch(() => undefined)
  const dispose = async () => {
    await markEnded
    await disposeSnapshot(instanceDirectory)
  }
  const carried = record.snapshotKey === snapshotKey ? await readCarried(directory) : undefined
  if (carried === undefined) {
    await dispose()
    return undefined
  }
  return { memoryPath: path.join(directory, 'memory'), carried, marked, dispose }
}

/**
 * Waits for the mark if the VM has a volume to write to. The same memory must not continue twice: it would
 * overwrite what the first VM wrote to the volume. Without such a volume it does no harm, so the start goes
 * on at once; but a disk that failed to write the mark is reported.
 */
export async function awaitMark(
  { marked }: TakenSnapshot,
  { volume }: Pick<VmSpec, 'volume'>,
  onProblem?: (message: string) => void,
): Promise<void> {
  if (volume?.readonly === false) return await marked
  marked.catch((error: unknown) =>
    onProblem?.(`a power failure could bring a used snapshot back: ${String(error)}`),
  )
}

/**
 * Reads what the VM's last keeper knew of the guest, as arguments for the next keeper. `guest_describe` in
 * `guest/keeper/guest.c` writes that file.
 */
async function readCarried(directory: string): Promise<readonly string[] | undefined> {
  const text = await readFile(path.join(directory, 'guest'), 'utf8').catch(() => '')
  const known = /^output (\d+) listening ([01]) disabled (-1|0|1)\n$/.exec(text)
  if (known === null) return undefined
  const [, output, listening, disabled] = known
  return [`output=${output}`, `listening=${listening}`, `disabled=${disabled}`]
}

/** Writes to the disk that the snapshot has its new name. */
async function markUsed(instanceDirectory: string): Promise<void> {
  try {
    const handle = await open(instanceDirectory, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new VmmError('BootFailed', `${instanceDirectory} could not be written to the disk: ${reason}`, {
      cause,
    })
  }
}
