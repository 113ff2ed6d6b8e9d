import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { GuestAssets } from './guest-assets.ts'
import type { HostFacts } from './host-facts.ts'

const meanings: Readonly<Record<string, string>> = {
  network: 'network',
  ipc: 'System V objects',
  processes: 'process numbers',
  files: 'view of the file system',
}

/**
 * Names, for a person, the parts of a jail that a VMM on this host can not have for itself. Empty if a VMM
 * can have all parts. The usual reason is a container without CAP_SYS_ADMIN, or with parts of /proc covered.
 * Without root all VMs run as the agent's user, so nothing is probed.
 */
export async function findJailGaps(
  facts: Pick<HostFacts, 'isRoot' | 'qemuPath'>,
  assets: Pick<GuestAssets, 'keeperPath'>,
): Promise<readonly string[]> {
  if (!facts.isRoot) return []
  const { stdout } = await promisify(execFile)(assets.keeperPath, ['jail', facts.qemuPath])
  const missing = stdout.split(/\s+/).filter(Boolean)
  return missing.map((part) => meanings[part] ?? part)
}
