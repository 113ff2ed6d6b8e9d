import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { VolumeError } from './volumes.ts'

/**
 * The directories of a host's volumes. A name says how far a volume is, and a name is changed in one step, so
 * that a crash at any point leaves a finished volume or one that is made again, and one that is removed never
 * comes back:
 *
 *   <uuid>.new      is being made: nobody ever had it, the next `make` begins anew
 *   <uuid>          complete and durable
 *   <uuid>.erasing  is being overwritten: what is left of it is smaller after every restart
 */
export const VolumeStage = { New: 'new', Complete: 'complete', Erasing: 'erasing' } as const
export type VolumeStage = (typeof VolumeStage)[keyof typeof VolumeStage]

const suffixes = { new: '.new', complete: '', erasing: '.erasing' } as const
const directoryName = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:\.(new|erasing))?$/

export const imageName = 'volume.img'

export interface StagedVolume {
  readonly uuid: string
  readonly stage: VolumeStage
}

export function stageDirectory(root: string, { uuid, stage }: StagedVolume): string {
  // A path is never made of anything else.
  if (!directoryName.test(`${uuid}${suffixes[stage]}`)) throw new TypeError('not the UUID of a volume')
  return path.join(root, `${uuid}${suffixes[stage]}`)
}

export function imagePath(root: string, uuid: string): string {
  return path.join(stageDirectory(root, { uuid, stage: VolumeStage.Complete }), imageName)
}

/** All that is there, whatever its stage. Anything else in the directory is not ours and is left alone. */
export async function stagedVolumes(root: string): Promise<readonly StagedVolume[]> {
  const names = await readdir(root).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  return names.flatMap((name) => {
    const [, uuid, suffix] = directoryName.exec(name) ?? []
    if (uuid === undefined) return []
    return [{ uuid, stage: suffix === 'new' || suffix === 'erasing' ? suffix : VolumeStage.Complete }]
  })
}

/** What the volume promises and what it has of the disk; undefined where there is no file. */
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

/** Nobody but the agent gets into it: QEMU and the tools have descriptors. */
export async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
}

export async function removeDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await syncDirectory(path.dirname(directory))
}

/** To another stage, durably. False: it was not there. */
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

/** What was created, renamed or deleted in it is so after a power loss too. */
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

/** For a `catch`: what is not there is undefined. */
export function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}

/** The disk had no room for what was to be written. */
export function asHostFull(error: unknown, what: string): unknown {
  const full =
    error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
  return full ? new VolumeError('HostFull', `the host has no room ${what}`, { cause: error }) : error
}
