import type { FileHandle } from 'node:fs/promises'
import { freeBytesAt } from '../free-bytes.ts'
import { excerptOf, runVolumeTool, volumeInTool, volumeOwner } from './volume-tool.ts'
import type { ToolEnd } from './volume-tool.ts'
import { VolumeError } from './volumes.ts'
import type { VolumeSize } from './volumes.ts'

export const mebibyte = 1024 * 1024
/**
 * The time limit of making a file system. It takes 5 ms for 1 GiB, because the guest writes tables and
 * journal later. On a busy disk it may take far longer.
 */
const formatLimitMs = 120_000
const maxOutputBytes = 16_384

/**
 * Volumes smaller than this have blocks of 1 KiB. With blocks of 4 KiB the journal would be half of the
 * smallest volume.
 */
const smallVolumeMb = 64

/**
 * The features of the file system. Every kernel since 2016 mounts it, so a user's own kernel and an older
 * host's e2fsck know it too. All features are named, and the host's mke2fs.conf is not read: volumes are the
 * same on every host.
 */
const features =
  'none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg,sparse_super,large_file,huge_file,dir_nlink,extra_isize,metadata_csum'

/** Makes an empty ext4 file system over the whole file, without the directory lost+found. */
export async function formatVolume(
  file: FileHandle,
  volume: VolumeSize,
  signal: AbortSignal | undefined,
): Promise<void> {
  const owner = volumeOwner(volume.uuid)
  const common = {
    descriptor: file.fd,
    ...(owner === undefined ? {} : { owner }),
    maxFileBytes: volume.sizeMb * mebibyte,
    limitMs: formatLimitMs,
    maxOutputBytes,
    signal,
  }
  const layout =
    volume.sizeMb < smallVolumeMb ? '-b 1024 -i 4096 -I 256 -G 16' : '-b 4096 -i 16384 -I 256 -G 16'
  // A damaged file system becomes read-only, because writing to it would damage more. No blocks are kept for
  // root.
  const rules = '-e remount-ro -m 0'
  // The host's file is one hole, which reads as zeros. So the tables need no writing, and there is nothing
  // to discard.
  const lazy = '-E lazy_itable_init=1,lazy_journal_init=1,nodiscard'
  const options = `-q -F ${layout} -O ${features} -U ${volume.uuid} ${rules} ${lazy}`
  const made = await runVolumeTool({
    ...common,
    env: { MKE2FS_CONFIG: '/dev/null' },
    command: ['mke2fs', ...options.split(' '), volumeInTool],
  })
  await accept(made, 'mke2fs', file)
  // A new volume is empty, for programs that refuse a directory with anything in it. e2fsck makes lost+found
  // again if it needs it.
  const emptied = await runVolumeTool({
    ...common,
    command: ['debugfs', '-w', '-R', 'rmdir lost+found', volumeInTool],
  })
  await accept(emptied, 'debugfs', file)
}

async function accept(end: ToolEnd, program: string, file: FileHandle): Promise<void> {
  if (end.kind === 'exit' && end.code === 0) return
  await refuseWhenFull(file)
  throw new Error(`the file system could not be made: ${describeEnd(end, program)}`)
}

export function describeEnd(end: ToolEnd, program: string): string {
  if (end.kind === 'too-slow') return `${program} did not end in time`
  if (end.kind === 'conflict') return 'another program is at work on the file'
  const how = end.kind === 'exit' ? `ended with ${end.code}` : `was ended by ${end.signal}`
  return `${program} ${how}: ${excerptOf(end.output)}`
}

/**
 * The free room that a tool may need. If the disk has less, the failure of a tool says nothing about the
 * volume.
 */
const workingRoomBytes = 16 * mebibyte

export async function refuseWhenFull(file: FileHandle): Promise<void> {
  const free = await freeBytesAt(`/proc/self/fd/${file.fd}`)
  if (free < workingRoomBytes) throw new VolumeError('HostFull', 'the host has no room for the volume')
}
