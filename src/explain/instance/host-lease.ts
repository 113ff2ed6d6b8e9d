import { NodeUnavailable } from '../../control/host-client.ts'
import type { NodeClient, PlacedInstance } from '../../control/host-client.ts'
import type { HostLeaseView } from '../../domain/standby/lease-protocol.ts'

/**
 * What a host says about an instance's lease. It is undefined if the host does not know the instance, as
 * before its first start. A text says why there is no answer.
 */
export type ToldLease = HostLeaseView | string | undefined

export type ReadLease = (instance: PlacedInstance) => Promise<ToldLease>

/**
 * Asks hosts for leases. A host that did not answer once is not asked again, so questions about a hundred
 * instances wait for a silent host once and not a hundred times. A reader is therefore made for each request.
 */
export function leaseReader(
  nodes: Pick<NodeClient, 'readLease'>,
  noteSilence: (error: NodeUnavailable) => void = () => {},
): ReadLease {
  const silent = new Set<string>()
  return async (instance) => {
    const { nodeId } = instance
    const trouble = `host ${nodeId} does not answer`
    if (silent.has(nodeId)) return trouble
    try {
      return await nodes.readLease(instance)
    } catch (error) {
      if (!(error instanceof NodeUnavailable)) throw error
      if (!silent.has(nodeId)) noteSilence(error)
      silent.add(nodeId)
      return trouble
    }
  }
}
