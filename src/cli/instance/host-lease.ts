import type { NodesDeps } from '../../db/host/hosts.ts'
import { findNode } from '../../db/host/hosts.ts'
import type { HostLeaseView } from '../../domain/standby/lease-protocol.ts'

/** How long the command waits for a host's answer. It is short because a host answers from memory. */
const answerLimitMs = 3_000

/**
 * Returns the instance's lease as its host sees it. Undefined if the host does not know the instance, as
 * before its first start. A text says why there is no answer.
 */
export async function readHostLease(
  deps: NodesDeps,
  instance: { readonly uuid: string; readonly nodeId: string },
): Promise<HostLeaseView | string | undefined> {
  const { uuid, nodeId } = instance
  const node = await findNode(deps, nodeId)
  if (node === undefined) return `host ${nodeId} is not known`
  try {
    const response = await fetch(new URL(`/instances/${uuid}/host-lease`, node.agentUrl), {
      headers: { authorization: `Bearer ${node.agentSecret}` },
      signal: AbortSignal.timeout(answerLimitMs),
    })
    if (response.status === 404) return undefined
    if (response.ok) return (await response.json()) as HostLeaseView
    return `host ${nodeId} answered ${response.status}`
  } catch {
    return `host ${nodeId} does not answer`
  }
}
