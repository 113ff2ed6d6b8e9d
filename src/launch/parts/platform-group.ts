import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { groupRoot, neighbourShare, shareFile } from '../../domain/host/processor-shares.ts'

/**
 * The control group of a stack's parts, for processors alone: `roost-platform-<data directory>`, with eight
 * times the weight of a neighbour. A part that gives way is not in it. What a part starts is where the part
 * is, but virtual machines are in groups of their own (`host/vmm/control-groups.ts`), and what unpacks images
 * leaves.
 */
export interface PlatformGroup {
  /** With what the process starts from now on. */
  readonly enter: (pid: number) => void
  /**
   * Once the parts have ended. With what one has left behind the group stays; the next stack on the data
   * directory goes on with it.
   */
  readonly close: () => Promise<void>
}

/** Where the kernel says what groups there are. Tests have files of their own. */
export interface GroupFiles {
  readonly root: string
  readonly ownGroups: string
}

const kernelFiles: GroupFiles = { root: groupRoot, ownGroups: '/proc/self/cgroup' }
const namePrefix = 'roost-platform-'
const members = 'cgroup.procs'
/** A process that was killed is in its group for a moment longer. */
const removalTries = 20
const removalPauseMs = 50
/** As much as so many neighbours have together. */
const weight = 8

/**
 * Undefined where it takes more than we have (root, a kernel with control groups that can be written), and
 * where a service manager has put this process into a group of its own: the weight is set there.
 */
export function openPlatformGroup(
  dataDirectory: string,
  files: GroupFiles = kernelFiles,
): PlatformGroup | undefined {
  const own = ownGroup(files)
  if (own?.name !== '/') return undefined
  const hash = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12)
  const directory = path.join(own.hierarchy, `${namePrefix}${hash}`)
  const share = weight * neighbourShare[own.version]
  try {
    if (own.version === 2) writeFileSync(path.join(own.hierarchy, 'cgroup.subtree_control'), '+cpu')
    mkdirSync(directory, { recursive: true })
    writeFileSync(path.join(directory, shareFile[own.version]), String(share))
  } catch {
    remove(directory)
    return undefined
  }
  return {
    enter(pid) {
      try {
        writeFileSync(path.join(directory, members), String(pid))
      } catch {
        // It has ended; or the kernel refuses it, and nothing depends on it.
      }
    },
    async close() {
      for (let tries = 0; tries < removalTries && !remove(directory); tries++) await delay(removalPauseMs)
    },
  }
}

/** For a process that works for users as long as they like: it has processors as a neighbour has them. */
export function leavePlatformGroup(files: GroupFiles = kernelFiles): void {
  const own = ownGroup(files)
  if (own?.name.startsWith(`/${namePrefix}`) !== true) return
  try {
    writeFileSync(path.join(own.hierarchy, members), String(process.pid))
  } catch {
    // It is no worse off where it is.
  }
}

/** Where processors are shared, by version 1 where both are there. */
function ownGroup({ root, ownGroups }: GroupFiles) {
  const lines = linesOf(ownGroups).map((line) => /^\d+:([^:]*):(.*)$/.exec(line) ?? [])
  const [, , one] = lines.find(([, controllers]) => controllers?.split(',').includes('cpu') === true) ?? []
  if (one !== undefined) return { version: 1, hierarchy: path.join(root, 'cpu'), name: one } as const
  const [, , two] = lines.find(([, controllers]) => controllers === '') ?? []
  return two === undefined ? undefined : ({ version: 2, hierarchy: root, name: two } as const)
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}

/** A group with a process in it stays: answers false then. */
function remove(directory: string): boolean {
  try {
    rmdirSync(directory)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
