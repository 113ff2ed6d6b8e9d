import type { LaunchSpec } from '../../domain/host/api-protocol.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import {
  digestOf,
  memoryWaits,
  nicOf,
  permitOf,
  released,
  withoutMemory,
  withVolume,
} from '../instance/record.ts'
import type { Move } from '../instance/record.ts'
import type { StandbyWork } from '../leases/standby-work.ts'
import type { AgentPorts } from './agent-ports.ts'
import type { MovingVolumes } from './moving-volumes.ts'
import { ownLaunch } from './own-launch.ts'

interface ClaimParts {
  readonly ports: Pick<AgentPorts, 'launches' | 'store' | 'vmm' | 'log'>
  readonly volumes: MovingVolumes
  readonly standby: StandbyWork
}

/**
 * Within `queue`: makes an instance that was fetched this host's own. Returns the hold that is over;
 * undefined if there was none. The API tells the launch spec only to the host that the row names.
 */
export async function claimFetched(
  parts: ClaimParts,
  entry: InstanceEntry,
  signal: AbortSignal,
): Promise<Move | undefined> {
  const { ports, volumes } = parts
  if (entry.record?.move?.role !== 'new') return undefined
  const { move } = entry.record
  const told = await ports.launches.launchSpec(entry.instanceUuid, signal)
  await keepOwnLaunch(parts, entry, told)
  const nic = nicOf(told)
  const own = { ...released(entry.record), nic, imageDigest: digestOf(told) }
  await entry.save(withVolume(own, await volumes.take(entry, told)), { durable: true })
  return move
}

/**
 * Within `queue`. While anything is left of a copy that may not be used, the record has its `move`, so a
 * new agent begins here again.
 */
async function keepOwnLaunch(
  { ports: { store, vmm, log }, standby }: ClaimParts,
  entry: InstanceEntry,
  told: LaunchSpec,
): Promise<void> {
  const { record } = entry
  if (record === undefined) return
  const { instanceUuid } = entry
  const waits = permitOf(record) !== undefined && memoryWaits(record)
  const copy = (entry.launch ??= await store.loadLaunch(instanceUuid))
  const own = copy && ownLaunch(copy, { told, memoryWaits: waits })
  if (own !== undefined) return await standby.keepLaunch(entry, own)
  if (copy === undefined && !waits) return
  log.warn({ instance: instanceUuid }, 'what was fetched is not what the API tells: its memory is dropped')
  await entry.save(withoutMemory(record), { durable: true })
  entry.launch = undefined
  await vmm.dropSnapshot(store.directory(instanceUuid))
  await store.dropLaunch(instanceUuid)
}
