import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { listSegments } from '../console/console-segments.ts'
import { memoryWaits, permitOf } from '../instance/record.ts'
import type { InstanceRecord } from '../instance/record.ts'
import type { LaunchCopy } from '../instance/store.ts'
import { readSnapshot } from '../vmm/snapshot-files.ts'
import type { Vmm } from '../vmm/vmm.ts'
import { snapshotFileNames, usageFileName } from './held-copy.ts'
import type { HeldCopy, HeldFile, HeldMemory } from './held-copy.ts'
import { fingerprint } from './root-disk.ts'

/** Reads what this host keeps of an instance that it holds. */
export async function readHeldCopy(held: {
  readonly directory: string
  readonly record: InstanceRecord
  readonly holdUuid: string
  readonly launch: LaunchCopy | undefined
  readonly vmm: Pick<Vmm, 'snapshots'>
  /** The volume that moves with it, with its file. */
  readonly volume?:
    { readonly uuid: string; readonly path: string; readonly copyUuid?: string | undefined } | undefined
}): Promise<HeldCopy> {
  const { directory, record, holdUuid, launch, volume } = held
  const isAsleep = permitOf(record) !== undefined
  const memory = isAsleep && launch !== undefined ? await readMemory(held, launch) : undefined
  const segments = await listSegments(join(directory, 'console'))
  const names = [
    usageFileName,
    ...segments.map(({ path }) => `console/${basename(path)}`),
    ...(memory === undefined ? [] : snapshotFileNames),
  ]
  const files = await Promise.all(names.map(async (name) => await fileOf(directory, name)))
  return {
    version: 1,
    holdUuid,
    record,
    ...(isAsleep && launch !== undefined && { spec: launch.spec }),
    files: files.filter((file) => file !== undefined),
    ...(memory !== undefined && { memory }),
    ...(volume !== undefined && { volume: await describeVolume(volume) }),
  }
}

async function describeVolume({
  uuid,
  path,
  copyUuid,
}: NonNullable<Parameters<typeof readHeldCopy>[0]['volume']>): Promise<HeldCopy['volume']> {
  const { size: bytes } = await stat(path)
  return { uuid, bytes, ...(copyUuid !== undefined && { copyUuid }) }
}

/** Undefined if the next boot begins afresh, or would because its snapshot is gone. */
async function readMemory(
  { directory, record, vmm }: Parameters<typeof readHeldCopy>[0],
  { image }: LaunchCopy,
): Promise<HeldMemory | undefined> {
  const snapshot = memoryWaits(record) ? await readSnapshot(directory) : undefined
  if (snapshot === undefined || snapshot.uuid !== record.standby?.snapshotUuid) return undefined
  const rootDisk = await fingerprint(image)
  const { snapshotKey } = snapshot
  return { snapshotKey, machine: vmm.snapshots.machine, ...(rootDisk !== undefined && { rootDisk }) }
}

async function fileOf(directory: string, name: string): Promise<HeldFile | undefined> {
  const found = await stat(join(directory, name)).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  })
  return found === undefined ? undefined : { name, bytes: found.size }
}
