import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import { PlatformPart } from '../../domain/platform-part.ts'
import { peerOf } from '../../trust/part-identity.ts'

/** Which parts may call what, if a host listens for other machines. */
export const agentCallers = {
  /** Leases and what gateways count. */
  traffic: [PlatformPart.Gateway],
  /** Programs in instances. */
  exec: [PlatformPart.Api],
  metrics: [PlatformPart.Api],
  /** Logs, usage, loads, checks, first boots. */
  calls: [PlatformPart.Api, PlatformPart.Worker],
} as const satisfies Readonly<Record<string, readonly PlatformPart[]>>

/**
 * Whether the certificate behind a request is that of a part that may make it. On the machine of the control
 * plane there are no certificates: the secret that follows decides alone.
 */
export function isCaller({ socket }: IncomingMessage, what: keyof typeof agentCallers): boolean {
  if (!(socket instanceof TLSSocket)) return true
  const part = peerOf(socket)?.part
  return agentCallers[what].some((one) => one === part)
}
