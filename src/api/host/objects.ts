import type { FailedEntry } from '../../contract/envelope.ts'
import type { RequestObject } from '../../contract/request/parsed-request.ts'
import { instanceStatesOfNodes, overlookNodes } from '../../db/host/administration.ts'
import type { NodeOverview } from '../../db/host/administration.ts'
import type { StateCounts } from '../../domain/instance/tally.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'

/** The word for hosts in messages. */
const hostKind = 'host'

/** A host with its instances by state. */
export interface SeenHost {
  readonly node: NodeOverview
  readonly instances: StateCounts
}

/**
 * Presents the hosts that the request names, in its order, or all of them. To an account that is not an
 * administrator's it looks as if there were no hosts. There are tens of hosts at most, so all are read.
 */
export async function hostEntries<E, P>(
  deps: Pick<ApiDeps, 'database'>,
  call: Call,
  objects: readonly RequestObject<P>[],
  present: (host: SeenHost, object?: RequestObject<P>) => E,
): Promise<readonly (E | FailedEntry)[]> {
  const hosts = call.identity.admin ? await readHosts(deps) : []
  if (objects.length === 0) return hosts.map((host) => present(host))
  const byName = new Map(hosts.map((host) => [host.node.id.toLowerCase(), host]))
  return objects.flatMap((object) => {
    const { target } = object
    if (target === undefined) return []
    const host = byName.get(target.value)
    return host === undefined ? missingEntry(hostKind, target) : present(host, object)
  })
}

async function readHosts({ database }: Pick<ApiDeps, 'database'>): Promise<readonly SeenHost[]> {
  const [nodes, states] = await Promise.all([overlookNodes(database), instanceStatesOfNodes(database)])
  return nodes.map((node) => ({ node, instances: states.get(node.id) ?? {} }))
}
