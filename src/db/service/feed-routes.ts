import { createHmac } from 'node:crypto'
import { agentUrlFromElsewhere } from '../../domain/host/agent-url.ts'
import type { NameLine, RouteChallenge, RouteKind, RouteLine } from '../../domain/service/route-feed.ts'
import { CertificateState } from '../../domain/service/handler.ts'
import { trafficSecretContext } from '../../domain/standby/lease-protocol.ts'
import type { Database } from '../database.ts'
import type { FeedRow } from '../sql/feed.ts'
import { secretContext } from '../host/hosts.ts'
import { SecretBoxError } from '../secret-box.ts'
import type { SecretBox } from '../secret-box.ts'

export interface FeedDeps {
  readonly database: Database
  readonly secretBox: SecretBox
}

/** Whether a gateway is on the control plane's machine. To it, addresses on the loopback lead there. */
export const GatewayPlace = { Beside: 'beside', Elsewhere: 'elsewhere' } as const
export type GatewayPlace = (typeof GatewayPlace)[keyof typeof GatewayPlace]

/**
 * Turns a row of the feed into a line for gateways at this place and opens the sealed texts in it. If the key
 * of a certificate can not be opened, the line shows the certificate in state `error`. If the secret of a
 * host can not be opened, the line says that the host is gone.
 */
export function routeLine(
  box: SecretBox,
  { kind, id, body }: FeedRow,
  place: GatewayPlace = GatewayPlace.Beside,
): RouteLine {
  if (body === null) return { kind: 'gone', what: kind as RouteKind, id }
  switch (kind as RouteKind) {
    case 'node':
      return nodeLine(box, { id, place }, body as unknown as SealedNode)
    case 'certificate':
      return certificateLine(box, id, body as unknown as SealedCertificate)
    case 'challenge':
      return challengeLine(box, id, body as unknown as SealedChallenge)
    case 'metro':
      return metroLine(box, id, body as unknown as SealedMetro)
    case 'service':
      return { kind: 'service', service: body as never }
    case 'instance':
      return { kind: 'instance', instance: body as never }
  }
  throw new Error(`the feed has no '${kind}'`)
}

export function nameLine({ id, body }: FeedRow): NameLine {
  return body === null ? { kind: 'gone', what: 'name', id } : { kind: 'name', name: body as never }
}

interface SealedNode {
  readonly agentUrl: string
  readonly agentSecret: string
  readonly subnet: string
}

interface SealedCertificate {
  readonly commonName: string
  readonly state: CertificateState
  readonly chain: string | null
  readonly keySealed: string | null
}

function nodeLine(
  box: SecretBox,
  { id, place }: { readonly id: string; readonly place: GatewayPlace },
  node: SealedNode,
): RouteLine {
  const agentUrl = place === GatewayPlace.Elsewhere ? agentUrlFromElsewhere(node) : node.agentUrl
  const secret = opened(box, node.agentSecret, secretContext(id))
  if (secret === undefined) return { kind: 'gone', what: 'node', id }
  return { kind: 'node', node: { id, agentUrl, trafficSecret: trafficSecretOf(secret) } }
}

/**
 * The secret that a gateway shows to a host. It is derived from the host's own secret and is of no use for
 * anything else.
 */
export function trafficSecretOf(agentSecret: string): string {
  return createHmac('sha256', agentSecret).update(trafficSecretContext).digest('base64url')
}

function certificateLine(box: SecretBox, uuid: string, row: SealedCertificate): RouteLine {
  const { commonName, state, chain, keySealed } = row
  if (state !== CertificateState.Valid) {
    return { kind: 'certificate', certificate: { uuid, commonName, state } }
  }
  const key = keySealed === null ? undefined : opened(box, keySealed, certificateKeyContext(uuid))
  if (chain === null || key === undefined) {
    return { kind: 'certificate', certificate: { uuid, commonName, state: CertificateState.Error } }
  }
  return { kind: 'certificate', certificate: { uuid, commonName, state, chain, key } }
}

type SealedChallenge = Omit<RouteChallenge, 'key'> & { readonly keySealed?: string }

function challengeLine(box: SecretBox, token: string, { keySealed, ...rest }: SealedChallenge): RouteLine {
  const key = keySealed === undefined ? undefined : opened(box, keySealed, challengeKeyContext(token))
  return { kind: 'challenge', challenge: key === undefined ? rest : { ...rest, key } }
}

interface SealedMetro {
  readonly chain: string
  readonly keySealed: string
}

/** A certificate whose key can not be opened counts as none. */
function metroLine(box: SecretBox, domain: string, { chain, keySealed }: SealedMetro): RouteLine {
  const key = opened(box, keySealed, metroKeyContext(domain))
  if (key === undefined) return { kind: 'gone', what: 'metro', id: domain }
  return { kind: 'metro', metro: { domain, chain, key } }
}

/** The secret box's context that binds the key of a metro domain's certificate to its row. */
export function metroKeyContext(domain: string): string {
  return `metro-key/${domain}`
}

/** The secret box's context that binds the key of a challenge's certificate to its row. */
export function challengeKeyContext(token: string): string {
  return `challenge-key/${token}`
}

/** The secret box's context that binds a certificate's key to its row. */
export function certificateKeyContext(uuid: string): string {
  return `certificate-key/${uuid}`
}

function opened(box: SecretBox, sealed: string, context: string): string | undefined {
  try {
    return box.open(sealed, context)
  } catch (error) {
    if (error instanceof SecretBoxError) return undefined
    throw error
  }
}
