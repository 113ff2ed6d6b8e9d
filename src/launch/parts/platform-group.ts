import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { groupRoot, neighbourShare, shareFile } from '../../domain/host/processor-shares.ts'

/**
 * The control group of a stack's parts, for processors alone: `roost-platform-<data directory>`, with eight
 * times the weight of a neighbour. A part that gives way is not in it. A process that a part starts is in
 * the part's group, with two exceptions: virtual machines have groups of their own
 * (`host/vmm/control-groups.ts`), and processes that unpack images leave the group.
 */
export interface PlatformGroup {
  /** Puts a process into the group. Every process that it starts from now on is in the group too. */
  readonly enter: (pid: number) => void
  /**
   * Called once the parts have ended. If a part has left a process behind, the group stays, and the next
   * stack on the data directory uses it again.
   */
  readonly close: () => Promise<void>
}

/** The places at which the kernel shows its groups. Tests have files of their own. */
export interface GroupFiles {
  readonly root: string
  readonly ownGroups: string
}

const kernelFiles: GroupFiles = { root: groupRoot, ownGroups: '/proc/self/cgroup' }
const namePrefix = 'roost-platform-'
const members = 'cgroup.procs'
/** The most tries to remove the group. A process that was killed stays in its group for a moment. */
const removalTries = 20
const removalPauseMs = 50
/** The group's weight. The group gets as much processor time as this many neighbours together. */
const weight = 8

/**
 * Makes the group. Returns undefined without root or without control groups that can be written. It also
 * returns undefined if a service manager has put this process into a group, because then the weight is set
 * there.
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
    makeGroup(directory)
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
        // The process has ended, or the kernel refuses the change. Nothing depends on the change.
      }
    },
    async close() {
      for (let tries = 0; tries < removalTries && !remove(directory); tries++) await delay(removalPauseMs)
    },
  }
}

/**
 * Moves this process out of the group. A process that works for users for as long as they like should get no
 * more processor time than a neighbour.
 */
export function leavePlatformGroup(files: GroupFiles = kernelFiles): void {
  const own = ownGroup(files)
  if (own?.name.startsWith(`/${namePrefix}`) !== true) return
  try {
    writeFileSync(path.join(own.hierarchy, members), String(process.pid))
  } catch {
    // If that fails, the process stays in the group, which does no harm.
  }
}

/**
 * The group of this process in the hierarchy that shares processors. If the machine has control groups of
 * both versions, that is version 1.
 */
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

/**
 * Makes a group, unless an earlier stack has left it. Not with `recursive`: where no groups are mounted, as
 * under `ip netns exec`, the kernel answers ENOENT even though the directory above is there, and Node then
 * tries again for ever.
 */
function makeGroup(directory: string): void {
  try {
    mkdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Removes a group. Returns false if a process is still in it; then the group stays. */
function remove(directory: string): boolean {
  try {
    rmdirSync(directory)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
