import { createHmac } from 'node:crypto'
import type { NameLine, RouteChallenge, RouteKind, RouteLine } from '../../domain/service/route-feed.ts'
import { CertificateState } from '../../domain/service/handler.ts'
import { trafficSecretContext } from '../../domain/standby/lease-protocol.ts'
import type { Database } from '../database.ts'
import { isResumed, sinceRevision } from './feed-read.ts'
import type { FeedQuery, FeedRow } from './feed-read.ts'
import { releasedSecret, secretContext } from '../host/hosts.ts'
import { SecretBoxError } from '../secret-box.ts'
import type { SecretBox } from '../secret-box.ts'

export interface FeedDeps {
  readonly database: Database
  readonly secretBox: SecretBox
}

/** All that a gateway serves by, of every user. */
export const routesQuery: FeedQuery = {
  name: 'routes',
  rows: `
    select 'node', id, feed_xid::text,
      case when agent_secret <> '${releasedSecret}'
        then json_build_object('agentUrl', agent_url, 'agentSecret', agent_secret) end
    from nodes where feed_xid ${sinceRevision}
    union all
    select 'certificate', uuid::text, feed_xid::text,
      json_build_object('commonName', common_name, 'state', state, 'chain', chain, 'keySealed', key_sealed)
    from certificates where feed_xid ${sinceRevision}
    union all
    select 'challenge', id, feed_xid::text, json_strip_nulls(json_build_object('token', id, 'kind', kind, 'fqdn', fqdn,
      'keyAuthorization', key_authorization, 'chain', chain, 'keySealed', key_sealed))
    from acme_challenges where feed_xid ${sinceRevision}
    union all
    select 'service', uuid::text, feed_xid::text, json_build_object('uuid', uuid, 'userUuid', user_uuid, 'name', name,
      'ports', ports, 'softLimit', soft_limit, 'hardLimit', hard_limit,
      'domains', (select coalesce(json_agg(json_strip_nulls(json_build_object(
          'fqdn', fqdn, 'certificateUuid', certificate_uuid)) order by ordinal, fqdn), '[]')
        from domains where service_uuid = services.uuid))
    from services where feed_xid ${sinceRevision}
    union all
    select 'instance', uuid::text, feed_xid::text,
      case when deleted_at is null and service_uuid is not null
        then json_build_object('uuid', uuid, 'name', name, 'serviceUuid', service_uuid, 'nodeId', node_id, 'state', state) end
    from instances where feed_xid ${sinceRevision}
      and (${isResumed} or (deleted_at is null and service_uuid is not null))
    union all
    select what, id, xid::text, null from feed_gone where ${isResumed} and xid ${sinceRevision}`,
}

/** The names of one host's instances. Of what other hosts have, nothing. */
export function namesQuery(nodeId: string): FeedQuery {
  return {
    name: 'names',
    rows: `
      select 'name', uuid::text, feed_xid::text,
        case when deleted_at is null
          then json_build_object('uuid', uuid, 'userUuid', user_uuid, 'name', name, 'privateIp', private_ip) end
      from instances where feed_xid ${sinceRevision} and node_id = $3 and (${isResumed} or deleted_at is null)
      union all
      select 'name', id, xid::text, null from feed_gone
      where ${isResumed} and xid ${sinceRevision} and what = 'instance' and node_id = $3`,
    values: [nodeId],
  }
}

/**
 * What is sealed in the row is opened here; a key that can not be opened is a certificate that can not be
 * used.
 */
export function routeLine(box: SecretBox, { kind, id, body }: FeedRow): RouteLine {
  if (body === null) return { kind: 'gone', what: kind as RouteKind, id }
  switch (kind as RouteKind) {
    case 'node':
      return nodeLine(box, id, body as unknown as SealedNode)
    case 'certificate':
      return certificateLine(box, id, body as unknown as SealedCertificate)
    case 'challenge':
      return challengeLine(box, id, body as unknown as SealedChallenge)
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
}

interface SealedCertificate {
  readonly commonName: string
  readonly state: CertificateState
  readonly chain: string | null
  readonly keySealed: string | null
}

function nodeLine(box: SecretBox, id: string, { agentUrl, agentSecret }: SealedNode): RouteLine {
  const secret = opened(box, agentSecret, secretContext(id))
  if (secret === undefined) return { kind: 'gone', what: 'node', id }
  return { kind: 'node', node: { id, agentUrl, trafficSecret: trafficSecretOf(secret) } }
}

/** What a gateway shows to a host: made from the host's own secret, and of no use for anything else. */
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

/** What binds the key of a challenge's certificate to its row. */
export function challengeKeyContext(token: string): string {
  return `challenge-key/${token}`
}

/** What binds a certificate's sealed key to its row. */
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
