import { readSnapshot } from '../vmm/snapshot-files.ts'
import type { AgentPorts } from '../agent/agent-ports.ts'
import { vmOf } from '../instance/boot-end.ts'
import type { HostVolumes } from './host-volumes.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import { goesToSleep, permitOf, runs, volumeMoves } from '../instance/record.ts'

/** What is needed to compare the holds on disk with the VMs, records and snapshots. */
export interface HoldSettlement {
  readonly ports: AgentPorts
  readonly volumes: HostVolumes
  readonly entries: ReadonlyMap<string, InstanceEntry>
}

/**
 * Corrects the holds when an agent starts, once it knows what became of every VM and before it accepts any
 * work. A hold is ended if its instance is not here, or neither runs nor sleeps: a crash left it, or it came
 * with a copy of the volume's files. An instance that runs, or has its memory in a snapshot, gets a lost
 * hold back.
 */
export async function recoverHolds(settlement: HoldSettlement): Promise<void> {
  const { ports, volumes, entries } = settlement
  for (const instanceUuid of volumes.holders()) {
    if (entries.get(instanceUuid)?.record !== undefined) continue
    ports.log.warn({ instance: instanceUuid }, 'a volume was held by an instance that is not here')
    await volumes.release(instanceUuid)
  }
  await settleHolds(settlement)
  for (const entry of entries.values()) {
    await entry.queue
      .run(async () => await claimLost(settlement, entry))
      .catch((error: unknown) => {
        ports.log.error({ instance: entry.instanceUuid, err: error }, 'a volume in use is not held')
      })
  }
}

/** Ends every hold that is not needed. A release that failed is repeated here. */
export async function settleHolds({ ports, volumes, entries }: HoldSettlement): Promise<void> {
  for (const instanceUuid of volumes.holders()) {
    const entry = entries.get(instanceUuid)
    // A start that is under way makes or ends its hold itself.
    if (entry === undefined || entry.job !== undefined) continue
    await entry.queue.run(async () => {
      if (await needsHold(ports, entry)) return
      // A snapshot that must not be used any more may still exist, because its deletion failed. It was made
      // with this volume, so it is deleted before the hold ends.
      await ports.vmm.dropSnapshot(ports.store.directory(instanceUuid))
      await volumes.release(instanceUuid)
    })
  }
}

async function needsHold({ vmm }: AgentPorts, { record }: InstanceEntry): Promise<boolean> {
  if (record === undefined) return false
  if (permitOf(record) !== undefined || runs(record) || goesToSleep(record)) return true
  if (volumeMoves(record)) return true
  const status = await vmm.status(vmOf(record))
  return status !== undefined && status.exit === undefined
}

async function claimLost({ ports, volumes }: HoldSettlement, entry: InstanceEntry): Promise<void> {
  const { instanceUuid, record } = entry
  if (record?.volume === undefined || volumes.heldBy(instanceUuid) === record.volume.uuid) return
  const remembers =
    permitOf(record) !== undefined && (await readSnapshot(ports.store.directory(instanceUuid))) !== undefined
  if (!runs(record) && !remembers) return
  ports.log.warn({ instance: instanceUuid, volume: record.volume.uuid }, 'a volume in use was not held')
  await volumes.claim({ ...record.volume, instanceUuid })
}
