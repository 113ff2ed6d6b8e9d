import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { promisify } from 'node:util'
import { ownCheckout, ownNode } from '../own-checkout.ts'
import type { DoctorCheck } from './check.ts'
import { canConfine, confine } from '../parts/part-confinement.ts'
import { absentUsers, useradd, useraddRemedy } from '../parts/part-users.ts'
import type { PartUser } from '../parts/part-users.ts'

const run = promisify(execFile)
/**
 * The user with which the check tests what every user of the machine can read. No process runs as this user.
 */
const anybody = { uid: 65_534, gid: 65_534 }

/** Checks whether the parts run as users of their own, and what those users can reach. */
export async function separateUsersCheck(): Promise<DoctorCheck> {
  const name = 'separate users'
  if (process.getuid?.() !== 0)
    return { name, status: 'ok', detail: 'not needed without root: all parts run as you' }
  if (!canConfine()) {
    const remedy = 'apt-get install -y --no-install-recommends util-linux'
    return { name, status: 'warning', detail: 'all parts run as root: there is no setpriv', remedy }
  }
  try {
    const { capabilities } = await confine({
      user: anybody,
      program: ownNode,
      reads: [ownCheckout],
      own: [],
    })
    if (!capabilities.includes('dac_read_search')) {
      return { name, status: 'ok', detail: 'each part but the agent runs as a user of its own' }
    }
    return {
      name,
      status: 'warning',
      detail:
        'parts may read every file, because the checkout is closed to other users and views can not be made',
      remedy: `move the checkout to where every user may pass, such as /opt`,
    }
  } catch (error) {
    return { name, status: 'missing', detail: error instanceof Error ? error.message : String(error) }
  }
}

export interface PartUsersFound {
  readonly absent: readonly PartUser[]
  /** Whether the program that makes users can be run. */
  readonly canMake: boolean
}

/** Checks whether the users of the parts exist or can be made. */
export async function partUsersCheck(
  areNeeded: boolean = canConfine(),
  look: () => Promise<PartUsersFound> = lookForUsers,
): Promise<DoctorCheck> {
  const name = 'users of the parts'
  if (!areNeeded)
    return { name, status: 'ok', detail: 'not needed: the parts run as the user who starts the stack' }
  const { absent, canMake } = await look()
  if (absent.length === 0) return { name, status: 'ok', detail: 'all of them exist' }
  if (canMake)
    return { name, status: 'ok', detail: `the next start makes ${absent.join(', ')} by ${useradd}` }
  const detail = `there is no ${useradd} to make ${absent.join(', ')}: the stack can not start`
  return { name, status: 'missing', detail, remedy: useraddRemedy }
}

async function lookForUsers(): Promise<PartUsersFound> {
  const canMake = await access(useradd, constants.X_OK).then(
    () => true,
    () => false,
  )
  return { absent: await absentUsers(), canMake }
}

/** Checks whether the packet filter can control who connects to the embedded Temporal. */
export async function temporalAccessCheck(): Promise<DoctorCheck> {
  const name = "Temporal's port"
  if (process.getuid?.() !== 0) {
    const detail =
      'every user of this machine can connect to Temporal and read and end workflows: only root can close it'
    return { name, status: 'warning', detail, remedy: 'sudo npm start' }
  }
  return run('nft', ['list', 'tables']).then(
    (): DoctorCheck => ({ name, status: 'ok', detail: 'closed to users who have nothing to do with it' }),
    (error: unknown): DoctorCheck => ({
      name,
      status: 'warning',
      detail: `every user of this machine can connect to Temporal: ${String(error).split('\n')[0]}`,
      remedy: 'apt-get install -y --no-install-recommends nftables',
    }),
  )
}

export type JailProbe = () => Promise<readonly string[]>

/** Checks whether the process of a virtual machine gets namespaces of its own. */
export async function jailCheck(
  probe: JailProbe,
  isRoot: boolean = process.getuid?.() === 0,
): Promise<DoctorCheck> {
  const name = 'virtual machines apart'
  if (!isRoot) {
    const detail = 'not root: the process of a virtual machine reaches what you reach'
    return { name, status: 'warning', detail, remedy: 'sudo npm start' }
  }
  try {
    const gaps = await probe()
    if (gaps.length === 0) {
      const detail = 'their processes see nothing of this machine but the programs of its system'
      return { name, status: 'ok', detail }
    }
    return {
      name,
      status: 'warning',
      detail: `their processes have no ${gaps.join(', no ')} of their own, because this container may not make them`,
      remedy: 'give the container CAP_SYS_ADMIN and an unmasked /proc, or run Roost on the machine itself',
    }
  } catch (error) {
    const detail = `can not be tried: ${error instanceof Error ? error.message : String(error)}`
    return { name, status: 'missing', detail, remedy: 'npm run setup' }
  }
}
