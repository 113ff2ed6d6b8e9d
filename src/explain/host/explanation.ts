import type { NodeOverview } from '../../db/host/administration.ts'
import { explainHost, hostState } from '../../domain/host/explanation.ts'
import type { Explanation } from '../../domain/instance/explanation.ts'
import type { StateCounts } from '../../domain/instance/tally.ts'

/** Explains a host by its row, and by how many of its instances are in each state. */
export function hostExplanation(node: NodeOverview, instances: StateCounts): Explanation {
  const {
    id,
    version,
    upgrade,
    heartbeatAt,
    termMs,
    lostAt,
    removedAt,
    withVolume,
    cordonedAt,
    drainingAt,
    memoryMb,
    usedMemoryMb,
    promisedMemoryMb,
    volumeMb,
    promisedMb,
    labels,
  } = node
  return explainHost({
    id,
    state: hostState(node),
    heartbeatAtMs: heartbeatAt.getTime(),
    version,
    ...(upgrade !== null && { upgrade }),
    ...(termMs !== null && { termMs }),
    ...(lostAt !== null && { lostAtMs: lostAt.getTime() }),
    ...(removedAt !== null && { isRemoved: true as const }),
    withVolume,
    ...(cordonedAt !== null && { cordonedAtMs: cordonedAt.getTime() }),
    ...(drainingAt !== null && { drainingAtMs: drainingAt.getTime() }),
    instances,
    labels,
    roles: node.roles,
    memoryMb,
    usedMemoryMb,
    promisedMemoryMb,
    volumeMb,
    promisedMb,
  })
}
