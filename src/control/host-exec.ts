import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { NodeRecord } from '../db/host/hosts.ts'
import { maxExecMessageBytes } from '../domain/instance/exec-protocol.ts'

const connectLimitMs = 3_000

/** Connects to a host for one program. Throws if the host does not answer, or refuses. */
export async function connectExec(node: NodeRecord, instanceUuid: string): Promise<WebSocket> {
  const url = new URL(`/instances/${instanceUuid}/exec`, node.agentUrl)
  url.protocol = 'ws:'
  const socket = new WebSocket(url, {
    headers: { authorization: `Bearer ${node.agentSecret}` },
    handshakeTimeout: connectLimitMs,
    maxPayload: maxExecMessageBytes,
    perMessageDeflate: false,
  })
  await once(socket, 'open')
  return socket
}
