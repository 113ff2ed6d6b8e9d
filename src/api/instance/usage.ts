import { noUsage } from '../../domain/instance/usage.ts'
import type { Usage } from '../../domain/instance/usage.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { NodeUnavailable } from '../../control/host-client.ts'

/**
 * Returns the resource use of instances, with one call per host. An instance that its host does not know
 * counts as having used nothing. Instances of a host that does not answer are left out.
 */
export async function usageOf(
  deps: Pick<ApiDeps, 'nodes'>,
  call: Call,
  rows: readonly InstanceRow[],
): Promise<ReadonlyMap<string, Usage>> {
  const byNode = Map.groupBy(rows, (row) => row.nodeId)
  const usage = new Map<string, Usage>()
  const calls = [...byNode].map(async ([nodeId, placed]) => {
    try {
      const answer = await deps.nodes.readUsage(
        nodeId,
        placed.map((row) => row.uuid),
      )
      for (const row of placed) usage.set(row.uuid, answer[row.uuid] ?? noUsage)
    } catch (error) {
      if (!(error instanceof NodeUnavailable)) throw error
      call.log.warn({ err: error, node: nodeId }, 'the host does not answer')
    }
  })
  await Promise.all(calls)
  return usage
}
