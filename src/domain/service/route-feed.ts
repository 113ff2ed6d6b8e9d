import type { InstanceState } from '../instance/state.ts'
import type { CertificateState, PublishedPort } from './handler.ts'

/**
 * How a gateway learns what to serve, and a host which names there are: `GET
 * <API>/internal/gateway/routes?since=<revision>` with `Authorization: Bearer <gateway token>`, and `GET
 * <API>/internal/nodes/<id>/names?since=<revision>` with the host's secret. The answer is a stream of JSON
 * lines that does not end.
 *
 * The stream comes in blocks, `begin` ... `end`. After an `end` everything up to its revision has been sent,
 * and a reader that reconnects names that revision. An entry may be sent again although it did not change; it
 * is always sent whole. A block with `snapshot: true` has all entries: what it leaves out is gone. `beat`
 * comes every `feedBeatMs` if there is nothing else. A reader that hears nothing for three of them connects
 * again.
 */
export const feedBeatMs = 2_000
export const maxFeedLineBytes = 1 << 20

export type FeedFrame =
  | { readonly kind: 'begin'; readonly snapshot: boolean }
  /**
   * The end of a block, with the revision up to which everything has been sent. Readers must not interpret
   * the revision.
   */
  | { readonly kind: 'end'; readonly revision: string }
  | { readonly kind: 'beat' }

export type RouteLine =
  | FeedFrame
  | { readonly kind: 'service'; readonly service: RouteService }
  | { readonly kind: 'instance'; readonly instance: RouteInstance }
  | { readonly kind: 'node'; readonly node: RouteNode }
  | { readonly kind: 'certificate'; readonly certificate: RouteCertificate }
  | { readonly kind: 'challenge'; readonly challenge: RouteChallenge }
  | { readonly kind: 'metro'; readonly metro: RouteMetro }
  | { readonly kind: 'gone'; readonly what: RouteKind; readonly id: string }

export type RouteKind = 'service' | 'instance' | 'node' | 'certificate' | 'challenge' | 'metro'

export interface RouteService {
  readonly uuid: string
  /**
   * The UUID of the owner. It is absent if the API has an earlier version, and for the platform's own
   * services.
   */
  readonly userUuid?: string
  readonly name: string
  /** Lower case, without a final dot; a wildcard begins with `*.`. */
  readonly domains: readonly { readonly fqdn: string; readonly certificateUuid?: string }[]
  readonly ports: readonly PublishedPort[]
  readonly softLimit: number
  readonly hardLimit: number
  /** Present while a new version of the instances is brought in. */
  readonly rollout?: RouteRollout
}

/** How the traffic of a service is divided between the version that it has and a new one. */
export interface RouteRollout {
  /** Gateways count the traffic of the new version under this id. */
  readonly uuid: string
  /** How many of a hundred requests the new version gets. */
  readonly percent: number
  /** Whether requests wait, because neither version can serve at this moment. */
  readonly held: boolean
}

/** An instance that is attached to a service and not deleted. The feed has no others. */
export interface RouteInstance {
  readonly uuid: string
  readonly name: string
  readonly serviceUuid: string
  readonly nodeId: string
  /**
   * The state that the row last recorded. The host may know a newer one. An instance that stops and then
   * starts again counts as starting, so that requests wait for it.
   */
  readonly state: InstanceState
  /** Whether it is of the new version that a rollout brings in. Absent: no. */
  readonly isNext?: boolean
}

export interface RouteNode {
  readonly id: string
  readonly agentUrl: string
  readonly trafficSecret: string
}

export interface RouteCertificate {
  readonly uuid: string
  readonly commonName: string
  readonly state: CertificateState
  /** `chain` and `key` are PEM. Both are present if the state is `valid`. */
  readonly chain?: string
  readonly key?: string
}

/** The certificate of the metro domain, for gateways without one of their own. `chain` and `key` are PEM. */
export interface RouteMetro {
  readonly domain: string
  readonly chain: string
  readonly key: string
}

export const ChallengeKind = { Http01: 'http-01', TlsAlpn01: 'tls-alpn-01' } as const
export type ChallengeKind = (typeof ChallengeKind)[keyof typeof ChallengeKind]

/**
 * What a gateway shows to an authority that checks whether a name leads here (RFC 8555, 8.3; RFC 8737). Its
 * id is the token.
 */
export interface RouteChallenge {
  readonly token: string
  readonly kind: ChallengeKind
  readonly fqdn: string
  readonly keyAuthorization: string
  /**
   * `chain` and `key` are PEM: the certificate that a handshake with `acme-tls/1` gets. Both are present if
   * the kind is `tls-alpn-01`.
   */
  readonly chain?: string
  readonly key?: string
}

export type NameLine =
  | FeedFrame
  | { readonly kind: 'name'; readonly name: PrivateName }
  | { readonly kind: 'gone'; readonly what: 'name'; readonly id: string }

/**
 * The name of one instance in the private network of its user. A host is told those of all users who have an
 * instance on it.
 */
export interface PrivateName {
  readonly uuid: string
  readonly userUuid: string
  /** The name without `.internal`. */
  readonly name: string
  readonly privateIp: string
  /** Whether the instance is on another host. Absent: no. */
  readonly isElsewhere?: boolean
}
