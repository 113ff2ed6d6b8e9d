import type { NodeOverview } from '../../db/host/administration.ts'
import { explainHost, hostState } from '../../domain/host/explanation.ts'
import type { Explanation } from '../../domain/instance/explanation.ts'
import type { StateCounts } from '../../domain/instance/tally.ts'

/** Explains a host by its row, and by how many of its instances are in each state. */
export function hostExplanation(node: NodeOverview, instances: StateCounts): Explanation {
  const {
    id,
    heartbeatAt,
    cordonedAt,
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
    ...(cordonedAt !== null && { cordonedAtMs: cordonedAt.getTime() }),
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
