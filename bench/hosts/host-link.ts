import { NativeConnection } from '@temporalio/worker'
import { relayTls } from '../../src/bin/agent-temporal.ts'
import { hostAndPort } from '../../src/domain/host-and-port.ts'
import { publicKeyOf } from '../../src/trust/kept-identity.ts'
import { joinInstallation, meetInstallation } from '../../src/trust/join-client.ts'
import type { HostsPlace } from '../../src/trust/join-client.ts'
import { readJoinToken } from '../../src/trust/join-token.ts'
import type { PartIdentity } from '../../src/trust/part-identity.ts'
import { connectionOptions } from '../../src/trust/temporal-tls.ts'
import { makeKey } from '../../src/x509/key-pair.ts'

/** How pretended hosts reach the control plane. */
export type WantedLink =
  /** As the first machine's own agent does: over the loopback, with the token that all such agents share. */
  | {
      readonly kind: 'loopback'
      readonly apiUrl: string
      readonly temporalAddress: string
      readonly joinToken: string
    }
  /** As machines that join do: by an invitation each, with TLS to the API and to its relay for Temporal. */
  | { readonly kind: 'tls'; readonly place: HostsPlace; readonly tokens: Readonly<Record<string, string>> }

/** What one host has of its link. */
export interface HostLink {
  readonly apiUrl: string
  readonly joinToken: string
  /** What the host shows. Absent on the loopback. */
  readonly identity?: PartIdentity
  readonly connection: NativeConnection
}

/** Returns what opens the link of each host. On the loopback they share one connection to Temporal. */
export async function hostLinks(wanted: WantedLink): Promise<(nodeId: string) => Promise<HostLink>> {
  if (wanted.kind === 'tls') return async (nodeId) => await joined(wanted.place, wanted.tokens[nodeId] ?? '')
  const { apiUrl, temporalAddress, joinToken } = wanted
  const connection = await NativeConnection.connect({ address: temporalAddress })
  return async () => await Promise.resolve({ apiUrl, joinToken, connection })
}

async function joined(place: HostsPlace, text: string): Promise<HostLink> {
  const token = readJoinToken(text)
  if (token === undefined) throw new Error('an invitation has no token')
  const key = makeKey()
  const met = await meetInstallation(place, token)
  const keys = { publicKey: publicKeyOf(key), rolePublicKeys: {} }
  const { certificate, authority } = await joinInstallation(met, token, keys)
  const identity = { certificate, key, authority }
  const address = hostAndPort(place)
  const connection = await NativeConnection.connect(connectionOptions({ address, tls: relayTls(identity) }))
  return { apiUrl: `https://${address}`, joinToken: '', identity, connection }
}
