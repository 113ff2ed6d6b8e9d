import type { DoctorCheck } from './check.ts'

/**
 * Finds which resources of virtual machines control groups can bound on this machine. The host's driver
 * knows where to look.
 */
export type GroupsProbe = () => Promise<{
  readonly version: 1 | 2 | undefined
  readonly present: readonly string[]
  readonly missing: readonly string[]
}>

const remedyOf = {
  none: 'mount control groups at /sys/fs/cgroup, writable for root; a container needs them of its host',
  1: 'mount the missing hierarchies: mount -t cgroup -o <name> <name> /sys/fs/cgroup/<name>',
  2: 'have the kernel offer them in /sys/fs/cgroup/cgroup.controllers; none may be disabled by cgroup_disable on its command line',
} as const

/**
 * Checks the control groups. Without them starts are still admitted by their memory, but nothing bounds what
 * a VM takes beyond that.
 */
export async function groupsCheck(probe: GroupsProbe, isRoot: boolean): Promise<DoctorCheck> {
  const name = 'control groups'
  if (!isRoot) {
    const detail = 'not root: memory, pids and cpu of virtual machines are not bounded'
    return { name, status: 'warning', detail, remedy: 'sudo npm start' }
  }
  const { version, present, missing } = await probe()
  const found = `version ${version}, which bounds ${present.join(', ')} of virtual machines`
  if (missing.length === 0) return { name, status: 'ok', detail: found }
  const detail = version === undefined ? 'none that can be used' : `${found}, and not ${missing.join(', ')}`
  return { name, status: 'warning', detail, remedy: remedyOf[version ?? 'none'] }
}
