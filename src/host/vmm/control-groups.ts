import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { access, constants, mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { guestMemoryMb, vmmMemoryMb } from '../../domain/host/memory-room.ts'
import { groupRoot, neighbourShare, shareFile } from '../../domain/host/processor-shares.ts'

/** The controllers of control groups that VMs are bounded by. */
export const groupControllers = ['memory', 'pids', 'cpu'] as const
export type GroupController = (typeof groupControllers)[number]

/**
 * A directory in which groups can be made, and the controllers that they have there. Version 1 has a
 * hierarchy per controller, version 2 one hierarchy for all.
 */
export interface GroupHierarchy {
  readonly version: 1 | 2
  readonly directory: string
  readonly controllers: readonly GroupController[]
}

/** The groups of one VM. They are made before it is known which instance the VM will belong to. */
export interface VmGroup {
  /** `<user group>/vm-<random>` */
  readonly name: string
  /** The name of the group above, which has the VMs of one user only. */
  readonly userGroup: string
  /** The group's directory in each hierarchy. The VM's processes enter all of them. */
  readonly directories: readonly string[]
}

/**
 * The memory that a VM may take beyond its guest and its VMM: the page cache of its disks and of the
 * snapshot that it is written into. The kernel takes page cache back where the parent group needs memory, so
 * admission does not count it.
 */
const pageCacheMb = 192
/**
 * The processes and threads of one VM, without those that run the guest's CPUs. QEMU has a few of its own,
 * and up to 64 that read and write its disks.
 */
const vmProcesses = 128
/** The share of processor time of all VMs together: half of what a group or process beside them has. */
const parentShare = { 1: neighbourShare[1] / 2, 2: neighbourShare[2] / 2 } as const
/** The largest share that the kernel accepts. */
const largestShare = { 1: 262_144, 2: 10_000 } as const
const mebibyte = 1024 * 1024
/**
 * How often a group's removal is tried: a VM's keeper leaves the group a moment after it has reported the
 * VM's end.
 */
const removalTries = 40
const removalPauseMs = 50
const makingTries = 5

/** Finds the hierarchies that this process may write to. It only looks, and changes nothing. */
export async function findGroupHierarchies(root = groupRoot): Promise<readonly GroupHierarchy[]> {
  const found: GroupHierarchy[] = []
  for (const controller of groupControllers) {
    const directory = path.join(root, controller)
    if (await isWritable(path.join(directory, 'cgroup.procs')))
      found.push({ version: 1, directory, controllers: [controller] })
  }
  if (found.length > 0 || !(await isWritable(path.join(root, 'cgroup.subtree_control')))) return found
  const there = (await read(path.join(root, 'cgroup.controllers'))).trim().split(/\s+/)
  const controllers = groupControllers.filter((controller) => there.includes(controller))
  return controllers.length === 0 ? [] : [{ version: 2, directory: root, controllers }]
}

export interface GroupsFound {
  readonly version: 1 | 2 | undefined
  readonly present: readonly GroupController[]
  readonly missing: readonly GroupController[]
}

export function surveyGroups(hierarchies: readonly GroupHierarchy[]): GroupsFound {
  const has = (one: GroupController) => hierarchies.some(({ controllers }) => controllers.includes(one))
  return {
    version: hierarchies[0]?.version,
    present: groupControllers.filter(has),
    missing: groupControllers.filter((one) => !has(one)),
  }
}

export interface GroupsOptions {
  readonly root?: string
  /** The parent group is named after this directory, so that several stacks on one machine have one each. */
  readonly agentDirectory: string
  /** The memory of all VMs together. If absent, it is not bounded. */
  readonly memoryMb?: number
  /** Resolves if a process can enter these directories, else rejects. */
  readonly tryToEnter: (directories: readonly string[]) => Promise<void>
  readonly onProblem?: (message: string) => void
}

/**
 * The control groups of all VMs of an agent:
 *
 *   roost-<agent>       memory.max: what VMs may have, swap none; pids.max: half of the machine's; cpu.weight: half of a neighbour's
 *     user-<random>     cpu.weight: as every other user's, however many VMs the user has (but see `UserWeights`)
 *       vm-<random>     memory.max: guest, VMM and some page cache; pids.max; cpu.weight by its CPUs
 *
 * A VM's group is made ahead, with the keeper that waits in it (`WaitingKeepers`), and gets its limits
 * before the VM starts. The agent removes the group when the VM is over, and a user's group with the last VM
 * in it. The groups that a killed agent left are removed by the next agent.
 */
export class ControlGroups {
  readonly #parents: readonly GroupHierarchy[]

  private constructor(parents: readonly GroupHierarchy[]) {
    this.#parents = parents
  }

  /**
   * Opens the parent groups. A controller that this host does not offer is reported once; VMs run without
   * it.
   */
  static async open(options: GroupsOptions): Promise<ControlGroups> {
    const parents: GroupHierarchy[] = []
    const name = `roost-${createHash('sha256').update(options.agentDirectory).digest('hex').slice(0, 12)}`
    for (const hierarchy of await findGroupHierarchies(options.root)) {
      const directory = path.join(hierarchy.directory, name)
      try {
        parents.push(await openParent(hierarchy, directory, options))
      } catch (error) {
        options.onProblem?.(`no control groups in ${hierarchy.directory}: ${String(error)}`)
        await rmdir(directory).catch(() => undefined)
      }
    }
    const { missing } = surveyGroups(parents)
    if (missing.length > 0)
      options.onProblem?.(
        `control groups do not bound ${missing.join(', ')} of virtual machines; 'roost admin doctor' says what to do`,
      )
    return new ControlGroups(parents)
  }

  /** Makes the groups of a VM, empty and without limits. */
  async prepare(userGroup: string): Promise<VmGroup> {
    const name = `${userGroup}/vm-${randomUUID().slice(0, 8)}`
    await Promise.all(this.#parents.map(async (parent) => await makeVmGroup(parent, name)))
    return { name, userGroup, directories: this.#directoriesOf(name) }
  }

  async limit(group: VmGroup, vm: { readonly memoryMb: number; readonly vcpus: number }): Promise<void> {
    const bytes = (guestMemoryMb(vm.memoryMb) + vmmMemoryMb + pageCacheMb) * mebibyte
    await Promise.all(
      this.#parents.flatMap(({ version, directory, controllers }) => {
        const at = path.join(directory, group.name)
        const share = Math.min(largestShare[version], neighbourShare[version] * vm.vcpus)
        const values: Record<GroupController, readonly [string, number]> = {
          memory: [version === 1 ? 'memory.limit_in_bytes' : 'memory.max', bytes],
          pids: ['pids.max', vmProcesses + vm.vcpus],
          cpu: [shareFile[version], share],
        }
        return controllers.map(async (one) => await write(path.join(at, values[one][0]), values[one][1]))
      }),
    )
  }

  /**
   * Sets the weight of all VMs of a user together, compared with those of other users. Every user begins
   * with 1.
   */
  async weigh(userGroup: string, weight: number): Promise<void> {
    const weighing = this.#parents.filter(({ controllers }) => controllers.includes('cpu'))
    await Promise.all(
      weighing.map(async ({ version, directory }) => {
        const share = Math.round(neighbourShare[version] * weight)
        // The user's group may have been removed with its last VM.
        await write(path.join(directory, userGroup, shareFile[version]), share).catch(() => undefined)
      }),
    )
  }

  /**
   * Removes a VM's groups. Resolves when they are gone, or after 2 s if there are still processes in them. A
   * VM that has ended leaves its groups sooner.
   */
  async remove(name: string): Promise<void> {
    await Promise.all(
      this.#directoriesOf(name).map(async (directory) => {
        await removePatiently(directory)
        // The kernel refuses to remove the user's group while it has other VMs.
        if (name.includes('/')) await rmdir(path.dirname(directory)).catch(() => undefined)
      }),
    )
  }

  /** Removes the parent groups, except those that still have VMs. */
  async close(): Promise<void> {
    await Promise.all(
      this.#parents.map(async ({ directory }) => await rmdir(directory).catch(() => undefined)),
    )
  }

  #directoriesOf(name: string): readonly string[] {
    return this.#parents.map(({ directory }) => path.join(directory, name))
  }
}

/** A name for a user group that no user has yet. */
export function newUserGroup(): string {
  return `user-${randomUUID().slice(0, 8)}`
}

/** Tries to enter the directories with the keeper, for `GroupsOptions.tryToEnter`. */
export async function enterByKeeper(keeperPath: string, directories: readonly string[]): Promise<void> {
  await promisify(execFile)(keeperPath, ['enter', ...directories, '--', 'true'])
}

/**
 * Makes the group of a VM. It tries several times, because the user's group may be removed with its last VM
 * between the two steps.
 */
async function makeVmGroup({ version, directory, controllers }: GroupHierarchy, name: string): Promise<void> {
  const vmGroup = path.join(directory, name)
  const userGroup = path.dirname(vmGroup)
  for (let tries = 1; ; tries++) {
    await make(userGroup)
    try {
      if (version === 2) await delegate(userGroup, controllers)
      await mkdir(vmGroup)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === makingTries) throw error
    }
  }
}

async function openParent(
  { version, controllers: all, directory: above }: GroupHierarchy,
  directory: string,
  { memoryMb, tryToEnter }: GroupsOptions,
): Promise<GroupHierarchy> {
  const controllers = version === 1 ? all : await delegate(above, all)
  const parent = { version, directory, controllers }
  await make(directory)
  await limitParent(parent, memoryMb)
  if (version === 2) await delegate(directory, controllers)
  await sweep(directory)
  const probe = path.join(directory, 'probe')
  await make(probe)
  try {
    await tryToEnter([probe])
  } finally {
    await removePatiently(probe)
  }
  return parent
}

async function limitParent(
  { version, directory, controllers }: GroupHierarchy,
  memoryMb: number | undefined,
): Promise<void> {
  if (controllers.includes('pids')) await write(path.join(directory, 'pids.max'), await halfOfAllProcesses())
  if (controllers.includes('cpu')) await write(path.join(directory, shareFile[version]), parentShare[version])
  if (!controllers.includes('memory') || memoryMb === undefined) return
  const [current, limit, swap] =
    version === 1
      ? ['memory.usage_in_bytes', 'memory.limit_in_bytes', 'memory.memsw.limit_in_bytes']
      : ['memory.current', 'memory.max', 'memory.swap.max']
  // The VMs that an earlier agent left may hold more than the present settings allow. A limit below that
  // would end some of them.
  const heldBytes = Number(await read(path.join(directory, current)))
  const bytes = Math.max(memoryMb * mebibyte, heldBytes)
  // Version 1 bounds memory and swap together, and refuses a bound for the sum that is below the one for
  // memory. So the old bound for the sum is lifted first.
  if (version === 1) await write(path.join(directory, swap), -1).catch(() => undefined)
  await write(path.join(directory, limit), bytes)
  // A kernel without swap accounting has no such file; there is nothing to bound then.
  await write(path.join(directory, swap), version === 1 ? bytes : 0).catch(() => undefined)
}

/**
 * Delegates the controllers and returns those that the kernel granted. Each is written alone, because the
 * kernel refuses a whole line if it can not grant one controller in it.
 */
async function delegate(
  directory: string,
  controllers: readonly GroupController[],
): Promise<readonly GroupController[]> {
  const delegated: GroupController[] = []
  for (const one of controllers) {
    await write(path.join(directory, 'cgroup.subtree_control'), `+${one}`).then(
      () => delegated.push(one),
      () => undefined,
    )
  }
  return delegated
}

async function halfOfAllProcesses(): Promise<number> {
  return Math.floor(Number(await readFile('/proc/sys/kernel/pid_max', 'utf8')) / 2)
}

/** Removes the groups that an earlier agent left. The kernel refuses to remove a group that has a VM. */
async function sweep(parent: string): Promise<void> {
  const names = await readdir(parent, { withFileTypes: true })
  const groups = names.filter((one) => one.isDirectory()).map(({ name }) => path.join(parent, name))
  await Promise.all(
    groups.map(async (group) => {
      await sweep(group)
      await rmdir(group).catch(() => undefined)
    }),
  )
}

async function removePatiently(directory: string): Promise<void> {
  for (let tries = 0; tries < removalTries; tries++) {
    try {
      await rmdir(directory)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') return
      await delay(removalPauseMs)
    }
  }
}

async function make(directory: string): Promise<void> {
  await mkdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

async function write(file: string, value: number | string): Promise<void> {
  await writeFile(file, String(value))
}

async function read(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch(() => '')
}

async function isWritable(file: string): Promise<boolean> {
  return await access(file, constants.W_OK).then(
    () => true,
    () => false,
  )
}
