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
 * What a VMM on this host can not have of its own, as words for a person; empty where it can have all. A
 * container without CAP_SYS_ADMIN, or with parts of /proc covered, is the usual reason. Without root there
 * are no users to keep apart, and nothing is asked.
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
