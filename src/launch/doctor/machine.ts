import { access, constants, statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import path from 'node:path'
import type { DoctorCheck } from './check.ts'

/** Finds out whether KVM really runs guests here. The host's driver knows how. */
export type AccelerationProbe = () => Promise<{ readonly usable: boolean; readonly reason: string }>

const gibibyte = 1024 ** 3
/**
 * With less than the first number of GiB free the doctor warns: it is room for a few images and instances.
 * With less than the second it reports that room is missing, because PostgreSQL itself soon has trouble.
 */
const comfortableDiskGib = 5
const leastDiskGib = 1
/** Below this much memory the doctor warns. The parts take about 1 GiB; the rest is for instances. */
const comfortableMemoryGib = 4

/**
 * Checks whether this process is root. `vmEgress` says whether instances should reach the outside. By
 * default it is true if the stack is root.
 */
export function rootCheck(found: { readonly isRoot: boolean; readonly vmEgress: boolean }): DoctorCheck {
  const name = 'root'
  if (found.isRoot) {
    return { name, status: 'ok', detail: 'virtual machines get users and network devices of their own' }
  }
  return {
    name,
    status: 'warning',
    detail:
      'not root: virtual machines run as you, with user-mode networking, and connect to nothing' +
      (found.vmEgress ? ', although ROOST_VM_EGRESS is on' : ''),
    remedy: 'sudo npm start',
  }
}

export async function tunCheck(): Promise<DoctorCheck> {
  const name = '/dev/net/tun'
  if (process.getuid?.() !== 0) return { name, status: 'ok', detail: 'not needed without root' }
  const there = await access('/dev/net/tun', constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  )
  if (there) return { name, status: 'ok', detail: 'virtual machines can be connected' }
  return { name, status: 'missing', detail: 'can not be opened', remedy: 'modprobe tun' }
}

export async function accelerationCheck(probe: AccelerationProbe): Promise<DoctorCheck> {
  const name = 'acceleration'
  try {
    const { usable, reason } = await probe()
    if (usable) return { name, status: 'ok', detail: `KVM: ${reason}` }
    return { name, status: 'warning', detail: `emulation, which is slower; no KVM: ${reason}` }
  } catch (error) {
    return {
      name,
      status: 'missing',
      detail: `virtual machines can not be tried: ${messageOf(error)}`,
      remedy: 'npm run setup',
    }
  }
}

export async function diskCheck(what: string, directory: string): Promise<DoctorCheck> {
  const name = what
  try {
    const { bavail, bsize } = await statfs(await nearestExisting(directory))
    const freeGib = (bavail * bsize) / gibibyte
    const detail = `${directory}, ${freeGib.toFixed(1)} GiB free`
    if (freeGib >= comfortableDiskGib) return { name, status: 'ok', detail }
    const status = freeGib < leastDiskGib ? 'missing' : 'warning'
    return { name, status, detail, remedy: `free some space; ${comfortableDiskGib} GiB are comfortable` }
  } catch (error) {
    return { name, status: 'missing', detail: messageOf(error) }
  }
}

export function memoryCheck(): DoctorCheck {
  const totalGib = totalmem() / gibibyte
  const detail = `${totalGib.toFixed(1)} GiB`
  const status = totalGib < comfortableMemoryGib ? 'warning' : 'ok'
  return { name: 'memory', status, detail }
}

/**
 * Returns the directory or, if it does not exist, the nearest one above it. Before the first start the
 * directory does not exist yet, but its file system does.
 */
async function nearestExisting(directory: string): Promise<string> {
  const there = await access(directory).then(
    () => true,
    () => false,
  )
  return there ? directory : nearestExisting(path.dirname(directory))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
