import { closeSync, openSync } from 'node:fs'
import { firstFileFd, maxFileFd } from './command-line.ts'
import type { VmOwner } from './vm-owner.ts'
import type { WaitingKeeper } from './waiting-keepers.ts'

/**
 * Of addresses a VMM needs far more than of memory: libraries, thread stacks, allocator arenas. Measured at
 * 0.6 GiB beyond the guest's own; a VMM that runs away is stopped at twice that.
 */
const addressOverheadMb = 1536

export interface KeeperPlan {
  readonly keeperPath: string
  readonly directory: string
  readonly consoleDirectory: string
  readonly guest: 'container' | 'kernel'
  /** Whom the VMM becomes; absent: it stays who the agent is. */
  readonly owner?: VmOwner
  /** The TAP device that the VMM is given. */
  readonly tap?: string
  /** Of its guest, by which the VMM's addresses are bounded; absent: they are not. */
  readonly memoryMb?: number
  readonly incoming?: IncomingState
  readonly command: readonly string[]
  readonly files: readonly InheritedFile[]
  /** Which of them is the volume's. */
  readonly volumeFd?: number
  /** What `guestConfig` encodes; empty for kernels that take none. */
  readonly config: Buffer
}

/** What a VM continues from. */
export interface IncomingState {
  readonly fd: number
  readonly source: 'template' | 'snapshot'
  /** Arguments `name=value` with what the keeper of the snapshot's VM knew. */
  readonly carried?: readonly string[]
}

/** A file that the VMM gets under the number `firstFileFd` plus its position. */
export interface InheritedFile {
  readonly path: string
  readonly flags: 'r' | 'r+'
}

/** The keeper had ended before it got its order: nothing of the VM was begun. */
export class KeeperGone extends Error {
  override readonly name = 'KeeperGone'
}

/**
 * Has a keeper start the VM. Returns when the configuration is handed over. The keeper is the leader of a
 * session of its own and outlives this process; it is only our child for as long as we live. Throws
 * `KeeperGone` where it ended while it waited.
 */
export async function startKeeper(plan: KeeperPlan, { stdin }: WaitingKeeper): Promise<void> {
  const { files, config } = plan
  if (firstFileFd + files.length - 1 > maxFileFd) throw new Error('too many files for one VM')
  // The keeper opens them, but can not say what it could not open.
  for (const { path, flags } of files) closeSync(openSync(path, flags))
  if (stdin.destroyed) throw new KeeperGone('the keeper ended before it was told what to be')
  await new Promise<void>((resolve) => {
    stdin.once('close', () => resolve())
    stdin.end(Buffer.concat([keeperOrder(plan), Buffer.from(`${config.length}\n`), config]))
  })
}

/** What `guest/keeper/waiting.c` understands. */
function keeperOrder(plan: KeeperPlan): Buffer {
  const files = plan.files.map(({ path, flags }) => `${flags === 'r' ? 'r' : 'w'} ${path}`)
  const strings = [...files, plan.keeperPath, ...keeperArguments(plan)]
  const text = Buffer.from(strings.map((string) => `${string}\0`).join(''))
  return Buffer.concat([Buffer.from(`order ${files.length} ${text.length}\n`), text])
}

function keeperArguments(plan: KeeperPlan): readonly string[] {
  const { tap, incoming, volumeFd } = plan
  return [
    'run',
    `dir=${plan.directory}`,
    `console=${plan.consoleDirectory}`,
    `guest=${plan.guest}`,
    ...jailArguments(plan),
    ...(tap === undefined ? [] : [`tap=${tap}`]),
    ...(incoming === undefined ? [] : [`incoming=${incoming.fd}`, `source=${incoming.source}`]),
    ...(incoming?.carried ?? []),
    ...(volumeFd === undefined ? [] : [`volume=${volumeFd}`]),
    '--',
    ...plan.command,
  ]
}

/** What the keeper has to know for the jail of any VMM. */
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
