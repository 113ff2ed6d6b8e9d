import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { access, constants, mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { guestMemoryMb, vmmMemoryMb } from '../../domain/host/memory-room.ts'
import { groupRoot, neighbourShare, shareFile } from '../../domain/host/processor-shares.ts'

/** What control groups are to do here. */
export const groupControllers = ['memory', 'pids', 'cpu'] as const
export type GroupController = (typeof groupControllers)[number]

/**
 * A directory that groups are made in, and what they can do there. Version 1 has a hierarchy per controller,
 * version 2 one for all.
 */
export interface GroupHierarchy {
  readonly version: 1 | 2
  readonly directory: string
  readonly controllers: readonly GroupController[]
}

/** The groups of one VM, made before anybody knows which instance it will be. */
export interface VmGroup {
  /** `<user group>/vm-<random>` */
  readonly name: string
  /** The group above, which has VMs of one user alone. */
  readonly userGroup: string
  /** To be entered, all of them. */
  readonly directories: readonly string[]
}

/**
 * What a VM may take beyond its guest and its VMM: the page cache of its disks and of the snapshot that it is
 * written into. The kernel takes that back where the parent group needs it, so it is not counted at
 * admission.
 */
const pageCacheMb = 192
/**
 * QEMU has a few threads of its own, one per CPU of the guest, and up to 64 that read and write its disks.
 */
const vmProcesses = 128
/** Half of what a group or process beside it has. */
const parentShare = { 1: neighbourShare[1] / 2, 2: neighbourShare[2] / 2 } as const
/** The kernel refuses more. */
const largestShare = { 1: 262_144, 2: 10_000 } as const
const mebibyte = 1024 * 1024
/** A VM's keeper leaves its group a moment after it has told of the VM's end. */
const removalTries = 40
const removalPauseMs = 50
const makingTries = 5

/** Looks and changes nothing. */
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
  /** Stacks side by side have parents of their own. */
  readonly agentDirectory: string
  /** What all VMs may have together; absent: no bound. */
  readonly memoryMb?: number
  /** Resolves where a process can enter these directories. */
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
 * A group is made ahead with the keeper that waits in it (`WaitingKeepers`), and has its limits before it has
 * a VM. The agent removes it when the VM is over, and a user's with the last in it; what an agent that was
 * killed left is removed by the next.
 */
export class ControlGroups {
  readonly #parents: readonly GroupHierarchy[]

  private constructor(parents: readonly GroupHierarchy[]) {
    this.#parents = parents
  }

  /** Where a controller can not be had, that is told once; VMs run without it. */
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
        `control groups do not bound ${missing.join(', ')} of virtual machines; 'roost doctor' says what to do`,
      )
    return new ControlGroups(parents)
  }

  /** Empty, with no limits of its own yet. */
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

  /** Of all VMs of a user together, beside those of other users: 1 is what each has at first. */
  async weigh(userGroup: string, weight: number): Promise<void> {
    const weighing = this.#parents.filter(({ controllers }) => controllers.includes('cpu'))
    await Promise.all(
      weighing.map(async ({ version, directory }) => {
        const share = Math.round(neighbourShare[version] * weight)
        // It may have gone with its last VM.
        await write(path.join(directory, userGroup, shareFile[version]), share).catch(() => undefined)
      }),
    )
  }

  /** Resolves when it is gone, or somebody stays in it for longer than a VM that ended can. */
  async remove(name: string): Promise<void> {
    await Promise.all(
      this.#directoriesOf(name).map(async (directory) => {
        await removePatiently(directory)
        // The kernel refuses it where the user has other VMs.
        if (name.includes('/')) await rmdir(path.dirname(directory)).catch(() => undefined)
      }),
    )
  }

  /** Leaves what still has VMs. */
  async close(): Promise<void> {
    await Promise.all(
      this.#parents.map(async ({ directory }) => await rmdir(directory).catch(() => undefined)),
    )
  }

  #directoriesOf(name: string): readonly string[] {
    return this.#parents.map(({ directory }) => path.join(directory, name))
  }
}

/** The name of one that is nobody's yet. */
export function newUserGroup(): string {
  return `user-${randomUUID().slice(0, 8)}`
}

/** For `GroupsOptions.tryToEnter`. */
export async function enterByKeeper(keeperPath: string, directories: readonly string[]): Promise<void> {
  await promisify(execFile)(keeperPath, ['enter', ...directories, '--', 'true'])
}

/** The user's group may be removed with its last VM in between. */
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
  // VMs of an agent before this one may have more, by its settings: a limit below that would end some of
  // them.
  const heldBytes = Number(await read(path.join(directory, current)))
  const bytes = Math.max(memoryMb * mebibyte, heldBytes)
  // Version 1 bounds memory and swap together, and refuses a sum below the part.
  if (version === 1) await write(path.join(directory, swap), -1).catch(() => undefined)
  await write(path.join(directory, limit), bytes)
  // A kernel without swap accounting has no such file, and then nothing to bound.
  await write(path.join(directory, swap), version === 1 ? bytes : 0).catch(() => undefined)
}

/** One by one, because a kernel refuses all of a line for one that can not be had. Answers those that can. */
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

/** What has a VM can not be removed. */
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
