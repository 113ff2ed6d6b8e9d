import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { VolumeError } from './volumes.ts'

/**
 * The directories of a host's volumes. The suffix of a directory's name is the stage of the volume. The name
 * changes in one step, so a crash at any point leaves either a complete volume or one that is made again,
 * and a removed volume never comes back:
 *
 *   <uuid>.new       is being made: nobody ever had it, and the next `make` begins from the start
 *   <uuid>           complete and durable
 *   <uuid>.erasing   is being overwritten: the rest gets smaller with every restart
 *   <uuid>.arriving  its content is being fetched from another host, which has the volume
 *   <uuid>.arrived   was fetched as a whole. Whose it is, the row says: `volume-arrivals.ts`
 */
export const VolumeStage = {
  New: 'new',
  Complete: 'complete',
  Erasing: 'erasing',
  Arriving: 'arriving',
  Arrived: 'arrived',
} as const
export type VolumeStage = (typeof VolumeStage)[keyof typeof VolumeStage]

const suffixes = {
  new: '.new',
  complete: '',
  erasing: '.erasing',
  arriving: '.arriving',
  arrived: '.arrived',
} as const satisfies Record<VolumeStage, string>
const directoryName = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:\.(new|erasing|arriving|arrived))?$/

export const imageName = 'volume.img'

export interface StagedVolume {
  readonly uuid: string
  readonly stage: VolumeStage
}

export function stageDirectory(root: string, { uuid, stage }: StagedVolume): string {
  // Only a UUID may become part of a path.
  if (!directoryName.test(`${uuid}${suffixes[stage]}`)) throw new TypeError('not the UUID of a volume')
  return path.join(root, `${uuid}${suffixes[stage]}`)
}

export function imagePath(root: string, uuid: string): string {
  return path.join(stageDirectory(root, { uuid, stage: VolumeStage.Complete }), imageName)
}

/**
 * Returns all volumes, in any stage. Other entries of the directory were not made by Roost and are left
 * alone.
 */
export async function stagedVolumes(root: string): Promise<readonly StagedVolume[]> {
  const names = await readdir(root).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  return names.flatMap((name) => {
    const [, uuid, suffix] = directoryName.exec(name) ?? []
    if (uuid === undefined) return []
    return [{ uuid, stage: (suffix as VolumeStage | undefined) ?? VolumeStage.Complete }]
  })
}

/**
 * The size of the volume that was promised, and the room that its file takes on the disk. Undefined if the
 * file does not exist.
 */
export async function imageSize(
  root: string,
  staged: StagedVolume,
): Promise<{ readonly promisedBytes: number; readonly allocatedBytes: number } | undefined> {
  try {
    const { size, blocks } = await stat(path.join(stageDirectory(root, staged), imageName))
    return { promisedBytes: size, allocatedBytes: blocks * 512 }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false
      throw error
    },
  )
}

/**
 * Makes a directory that only the agent can enter. QEMU and the tools need no right to enter it, because
 * they use open descriptors.
 */
export async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
}

export async function removeDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await syncDirectory(path.dirname(directory))
}

/** Moves a volume to another stage, durably. Returns false if there was none in stage `from`. */
export async function moveStage(
  root: string,
  uuid: string,
  { from, to }: { readonly from: VolumeStage; readonly to: VolumeStage },
): Promise<boolean> {
  try {
    await rename(stageDirectory(root, { uuid, stage: from }), stageDirectory(root, { uuid, stage: to }))
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
  await syncDirectory(root)
  return true
}

/** Makes what was created, renamed or deleted in the directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** Used with `catch`: returns undefined for the error of a missing file, and throws other errors. */
export function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}

/** Turns the error of a full disk into a `VolumeError`. `what` says for what there was no room. */
export function asHostFull(error: unknown, what: string): unknown {
  const full =
    error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
  return full ? new VolumeError('HostFull', `the host has no room ${what}`, { cause: error }) : error
}
