import { isLoopback } from '../host-and-port.ts'
import { hostAddressIndex, privateAddress } from './private-address.ts'

/**
 * Where parts on other machines reach an agent. One on the loopback also listens at its host's address in the
 * mesh.
 */
export function agentUrlFromElsewhere({
  agentUrl,
  subnet,
}: {
  readonly agentUrl: string
  readonly subnet: string
}): string {
  const url = new URL(agentUrl)
  if (!isLoopback(url.hostname)) return agentUrl
  url.hostname = privateAddress(subnet, hostAddressIndex)
  return url.origin
}
