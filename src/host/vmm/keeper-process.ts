import { closeSync, openSync } from 'node:fs'
import { firstFileFd, maxFileFd } from './command-line.ts'
import type { VmOwner } from './vm-owner.ts'
import type { WaitingKeeper } from './waiting-keepers.ts'

/**
 * The address space of a VMM beyond its guest's memory. A VMM needs far more addresses than memory: for
 * libraries, thread stacks and allocator arenas. 0.6 GiB beyond the guest's memory were measured; this is
 * more than twice that, and stops a VMM that runs away.
 */
const addressOverheadMb = 1536

export interface KeeperPlan {
  readonly keeperPath: string
  readonly directory: string
  readonly consoleDirectory: string
  /** The file with the host's term (`TermFile`). If absent, the keeper keeps none. */
  readonly termPath?: string
  readonly guest: 'container' | 'kernel'
  /** The user that the VMM runs as. If absent, it runs as the agent's user. */
  readonly owner?: VmOwner
  /** The name of the TAP device that the VMM gets. */
  readonly tap?: string
  /**
   * The guest's memory, from which the bound of the VMM's address space is computed. If absent, the address
   * space has no bound.
   */
  readonly memoryMb?: number
  readonly incoming?: IncomingState
  readonly command: readonly string[]
  readonly files: readonly InheritedFile[]
  /** The descriptor of the volume among `files`. */
  readonly volumeFd?: number
  /** The output of `encodeGuestConfig`; empty for a kernel that takes none. */
  readonly config: Buffer
}

/** What a VM continues from. */
export interface IncomingState {
  readonly fd: number
  readonly source: 'template' | 'snapshot'
  /** Arguments `name=value`: what the keeper of the snapshot's VM knew about its guest. */
  readonly carried?: readonly string[]
}

/** A file that the VMM gets under the number `firstFileFd` plus its position. */
export interface InheritedFile {
  readonly path: string
  readonly flags: 'r' | 'r+'
}

/** Thrown where the keeper ended before it got its order. Nothing of the VM has begun then. */
export class KeeperGone extends Error {
  override readonly name = 'KeeperGone'
}

/**
 * Tells a waiting keeper to start the VM. Returns once the configuration is handed over. The keeper is the
 * leader of a session of its own and outlives this process; it is our child only while this process lives.
 * Throws `KeeperGone` where the keeper ended while it waited.
 */
export async function startKeeper(plan: KeeperPlan, { stdin }: WaitingKeeper): Promise<void> {
  const { files, config } = plan
  if (firstFileFd + files.length - 1 > maxFileFd) throw new Error('too many files for one VM')
  // The keeper opens these files later, but can not report which of them it could not open.
  for (const { path, flags } of files) closeSync(openSync(path, flags))
  // Where its end is not known here yet, the write fails. A keeper starts no VM before it has read all.
  const isGone =
    stdin.destroyed ||
    (await new Promise<boolean>((resolve) => {
      stdin.once('close', resolve)
      stdin.end(Buffer.concat([keeperOrder(plan), Buffer.from(`${config.length}\n`), config]))
    }))
  if (isGone) throw new KeeperGone('the keeper ended before it was told what to be')
}

/** The order in the form that `guest/keeper/waiting.c` understands. */
function keeperOrder(plan: KeeperPlan): Buffer {
  const files = plan.files.map(({ path, flags }) => `${flags === 'r' ? 'r' : 'w'} ${path}`)
  const strings = [...files, plan.keeperPath, ...keeperArguments(plan)]
  const text = Buffer.from(strings.map((string) => `${string}\0`).join(''))
  return Buffer.concat([Buffer.from(`order ${files.length} ${text.length}\n`), text])
}

function keeperArguments(plan: KeeperPlan): readonly string[] {
  const { termPath, tap, incoming, volumeFd } = plan
  return [
    'run',
    `dir=${plan.directory}`,
    `console=${plan.consoleDirectory}`,
    `guest=${plan.guest}`,
    ...jailArguments(plan),
    ...(termPath === undefined ? [] : [`term=${termPath}`]),
    ...(tap === undefined ? [] : [`tap=${tap}`]),
    ...(incoming === undefined ? [] : [`incoming=${incoming.fd}`, `source=${incoming.source}`]),
    ...(incoming?.carried ?? []),
    ...(volumeFd === undefined ? [] : [`volume=${volumeFd}`]),
    '--',
    ...plan.command,
  ]
}

/** The keeper's arguments about the jail of a VMM. */
export function jailArguments(plan: {
  readonly owner?: VmOwner | undefined
  readonly memoryMb?: number
}): readonly string[] {
  const { owner, memoryMb } = plan
  return [
    ...(owner === undefined ? [] : [`uid=${owner.uid}`, `gid=${owner.gid}`, `keeper_uid=${owner.keeperUid}`]),
    ...(memoryMb === undefined ? [] : [`address_space_mb=${memoryMb + addressOverheadMb}`]),
  ]
}
