import { mkdir, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** Beyond the guest's memory a VMM needs some 60 MiB and the translated code; this leaves twice that. */
const overheadMb = 256
/**
 * Of addresses it needs far more than of memory: libraries, thread stacks, allocator arenas. Measured at 0.6 GiB beyond
 * the guest's own; a VMM that runs away is stopped at twice that.
 */
const addressOverheadMb = 1536

const groupRoots = ['/sys/fs/cgroup/memory/roost', '/sys/fs/cgroup/roost']

/**
 * Bounds what a VM's process may use: by a control group where this host lets us make one (version 1 or 2), and by
 * its address space in any case.
 */
export class MemoryGroups {
  readonly #usable: boolean

  constructor(isRoot: boolean) {
    this.#usable = isRoot
  }

  /** The directory of a group for this VM, or undefined where groups can not be had. The keeper removes it. */
  async make(name: string, memoryMb: number): Promise<string | undefined> {
    if (!this.#usable) return undefined
    for (const root of groupRoots) {
      const directory = path.join(root, name)
      if (await tryMake(root, directory, (memoryMb + overheadMb) * 1024 * 1024)) return directory
    }
    return undefined
  }

  /** For a keeper that was killed and could not do it. Fails harmlessly where the group is gone or in use. */
  async remove(name: string): Promise<void> {
    if (!this.#usable) return
    for (const root of groupRoots) await rmdir(path.join(root, name)).catch(() => undefined)
  }
}

export function addressSpaceMb(memoryMb: number): number {
  return memoryMb + addressOverheadMb
}

async function tryMake(root: string, directory: string, bytes: number): Promise<boolean> {
  const versionOne = root.includes('/memory/')
  try {
    await mkdir(root, { recursive: false }).catch(ignoreExisting)
    if (!versionOne) await writeFile(path.join(root, 'cgroup.subtree_control'), '+memory')
    await mkdir(directory).catch(ignoreExisting)
    await writeFile(path.join(directory, versionOne ? 'memory.limit_in_bytes' : 'memory.max'), `${bytes}`)
    return true
  } catch {
    await rmdir(directory).catch(() => undefined)
    return false
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
