import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { NodeHeartbeat } from '../../domain/host/api-protocol.ts'
import { upgradeFileName } from '../../domain/host/upgrade-file.ts'
import { readHostUpgrade } from '../../domain/host/upgrade.ts'
import type { HostUpgrade } from '../../domain/host/upgrade.ts'
import { parseJson } from '../../domain/json-text.ts'

/**
 * How the upgrade of this machine goes, or went last, as the process that runs the platform wrote it.
 * Undefined if there was none, or if the file is of a version that is not understood.
 */
export async function readUpgradeFile(agentDirectory: string): Promise<HostUpgrade | undefined> {
  const text = await readFile(path.join(agentDirectory, upgradeFileName), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : readHostUpgrade(parseJson(text))
}

/** What a heartbeat tells of it. */
export async function upgradeTold(agentDirectory: string): Promise<Pick<NodeHeartbeat, 'upgrade'>> {
  const upgrade = await readUpgradeFile(agentDirectory)
  return upgrade === undefined ? {} : { upgrade }
}
