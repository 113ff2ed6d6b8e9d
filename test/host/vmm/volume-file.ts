import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, open } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { VmVolume } from '../../../src/host/vmm/vmm.ts'

const run = promisify(execFile)

/** Makes a file with an ext4 file system, as a volume has it. It is small, so that a check takes no time. */
export async function makeVolumeFile(directory: string, sizeMb = 32): Promise<string> {
  await mkdir(directory, { recursive: true })
  const file = path.join(directory, `${randomUUID()}.img`)
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.truncate(sizeMb * 1024 * 1024)
  } finally {
    await handle.close()
  }
  await run('mkfs.ext4', [
    '-q',
    '-F',
    '-m',
    '0',
    '-E',
    'lazy_itable_init=1,lazy_journal_init=1,nodiscard',
    file,
  ])
  return file
}

/** A volume with the given file, or with a new one. */
export async function makeVolume(
  directory: string,
  input: Partial<VmVolume> & { readonly sizeMb?: number } = {},
): Promise<VmVolume & { readonly path: string }> {
  const { sizeMb, ...volume } = input
  const file = volume.path ?? (await makeVolumeFile(directory, sizeMb))
  return { uuid: randomUUID(), at: '/data', readonly: false, ...volume, path: file }
}

/** What `e2fsck` finds without changing anything. The code is 0 if the file system is clean. */
export async function checkVolume(file: string): Promise<{ readonly code: number; readonly text: string }> {
  return await e2fsck('-fn', file)
}

/** Mends a file system like a host before it gives the volume to an instance. */
export async function mendVolume(file: string): Promise<{ readonly code: number; readonly text: string }> {
  return await e2fsck('-p', file)
}

async function e2fsck(
  flags: string,
  file: string,
): Promise<{ readonly code: number; readonly text: string }> {
  try {
    const { stdout } = await run('e2fsck', [flags, file])
    return { code: 0, text: stdout }
  } catch (error) {
    const { code, stdout = '' } = error as { code?: unknown; stdout?: string }
    if (typeof code !== 'number') throw error
    return { code, text: stdout }
  }
}

/** Whether the file system is marked as clean, with nothing in its journal. */
export async function isClean(file: string): Promise<boolean> {
  const { stdout } = await run('dumpe2fs', ['-h', file])
  return /^Filesystem state:\s+clean$/m.test(stdout) && !/needs_recovery/.test(stdout)
}
