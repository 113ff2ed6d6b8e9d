import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { NodeRecord } from '../db/host/hosts.ts'
import { agentName } from '../domain/part-name.ts'
import { clientTls } from '../trust/part-identity.ts'
import type { PartIdentity } from '../trust/part-identity.ts'
import { maxExecMessageBytes } from '../domain/instance/exec-protocol.ts'

const connectLimitMs = 3_000

/** Connects to a host for one program. Throws if the host does not answer, or refuses. */
export async function connectExec(
  node: NodeRecord,
  instanceUuid: string,
  identity: PartIdentity | undefined,
): Promise<WebSocket> {
  const url = new URL(`/instances/${instanceUuid}/exec`, node.agentUrl)
  const isSecure = url.protocol === 'https:'
  url.protocol = isSecure ? 'wss:' : 'ws:'
  const socket = new WebSocket(url, {
    headers: { authorization: `Bearer ${node.agentSecret}` },
    handshakeTimeout: connectLimitMs,
    maxPayload: maxExecMessageBytes,
    perMessageDeflate: false,
    ...(isSecure && identity && { ...clientTls(identity), servername: agentName(node.id) }),
  })
  await once(socket, 'open')
  return socket
}
