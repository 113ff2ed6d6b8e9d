import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { firstFileFd, maxFileFd } from './command-line.ts'

export interface KeeperPlan {
  readonly keeperPath: string
  readonly directory: string
  readonly consoleDirectory: string
  readonly guest: 'container' | 'kernel'
  /** Whom the VMM becomes; absent: it stays who the agent is. */
  readonly owner?: { readonly uid: number; readonly gid: number }
  readonly cgroup?: string
  readonly addressSpaceMb?: number
  /** Where the state is that the VM continues from. */
  readonly incomingFd?: number
  readonly command: readonly string[]
  readonly files: readonly InheritedFile[]
  /** What `guestConfig` encodes; empty for kernels that take none. */
  readonly config: Buffer
}

/** A file that the VMM gets under the number `firstFileFd` plus its position. */
export interface InheritedFile {
  readonly path: string
  readonly flags: 'r' | 'r+'
}

/**
 * Starts a keeper, which starts the VM. Returns when the configuration is handed over. The keeper is the leader of a
 * session of its own and outlives this process; it is only our child for as long as we live.
 */
export async function spawnKeeper(plan: KeeperPlan): Promise<void> {
  const descriptors: number[] = []
  try {
    for (const { path, flags } of plan.files) descriptors.push(openSync(path, flags))
    if (firstFileFd + descriptors.length - 1 > maxFileFd) throw new Error('too many files for one VM')
    const child = spawn(plan.keeperPath, keeperArguments(plan), {
      detached: true,
      cwd: '/',
      // No part of our environment: it may hold secrets of the platform.
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore', ...descriptors],
    })
    child.unref()
    await once(child, 'spawn')
    const { stdin } = child
    if (stdin === null) throw new Error('the keeper has no standard input')
    // A keeper that ended early closes the pipe; that it is gone is found when it is connected to.
    stdin.on('error', () => undefined)
    await new Promise<void>((resolve) => {
      stdin.once('close', () => resolve())
      stdin.end(Buffer.concat([Buffer.from(`${plan.config.length}\n`), plan.config]))
    })
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

function keeperArguments(plan: KeeperPlan): readonly string[] {
  const { owner, cgroup, addressSpaceMb, incomingFd } = plan
  return [
    'run',
    `dir=${plan.directory}`,
    `console=${plan.consoleDirectory}`,
    `guest=${plan.guest}`,
    ...(owner === undefined ? [] : [`uid=${owner.uid}`, `gid=${owner.gid}`]),
    ...(cgroup === undefined ? [] : [`cgroup=${cgroup}`]),
    ...(addressSpaceMb === undefined ? [] : [`address_space_mb=${addressSpaceMb}`]),
    ...(incomingFd === undefined ? [] : [`incoming=${incomingFd}`]),
    '--',
    ...plan.command,
  ]
}
