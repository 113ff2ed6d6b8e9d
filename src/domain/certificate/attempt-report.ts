import type { ChallengeKind } from '../service/route-feed.ts'

/**
 * What was seen in one attempt to get a certificate, kept as JSON. Its parts come one after the other, and
 * each may be missing: an attempt may have ended, or its process, before there was anything to note. Every
 * text and list in it is bounded by who wrote it.
 *
 * Names are chosen by users, who choose their addresses, too. So what an address inside answered is told in
 * one word and nothing of its content is kept: see `AddressScope`.
 */
export interface AttemptReport {
  readonly name?: string
  /** For people. */
  readonly authority?: string
  /**
   * One of these has to be named by CAA records, where there are some; empty where the authority does not
   * say.
   */
  readonly caaIdentities?: readonly string[]
  readonly dns?: DnsSeen
  readonly caa?: CaaSeen
  /** The HTTP-01 challenge, asked for from here. */
  readonly web?: readonly WebSeen[]
  /** Whether port 443 takes connections. */
  readonly tls?: readonly PortSeen[]
  readonly challenge?: ChallengeKind
  readonly outcome?: AttemptOutcome
  /** In one sentence. */
  readonly failure?: string
  /** As the authority wrote it. */
  readonly problem?: { readonly type: string; readonly detail: string; readonly status?: number }
  /** When the authority wants to be asked again. */
  readonly retryAtMs?: number
}

/**
 * `later` and `paced` are no failures: the attempt goes on when the authority wants it, or when the user has
 * an order left.
 */
export const AttemptOutcome = {
  Issued: 'issued',
  Failed: 'failed',
  Later: 'later',
  Paced: 'paced',
  Refused: 'refused',
} as const
export type AttemptOutcome = (typeof AttemptOutcome)[keyof typeof AttemptOutcome]

export interface DnsSeen {
  readonly a: LookupSeen
  readonly aaaa: LookupSeen
  /** From the name on, one after the other. */
  readonly cname: readonly string[]
}

/** Nothing found and no failure: the name is there, and has no such record. */
export interface LookupSeen {
  readonly found: readonly string[]
  readonly failure?: LookupFailure
}

export const LookupFailure = {
  NoSuchName: 'no-such-name',
  /** Often: its DNSSEC is broken. */
  ServerFailed: 'server-failed',
  NoAnswer: 'no-answer',
  Other: 'other',
} as const
export type LookupFailure = (typeof LookupFailure)[keyof typeof LookupFailure]

/** The closest records to the name on the way to the root (RFC 8659); none where `at` is absent. */
export interface CaaSeen {
  readonly at?: string
  readonly records: readonly CaaRecord[]
  /** With the name whose records could not be looked up, in `at`. */
  readonly failure?: LookupFailure
}

export interface CaaRecord {
  readonly critical: boolean
  readonly tag: string
  readonly value: string
}

/**
 * `internal`: loopback and private networks, which an installation may well have its gateway in, and where
 * others may listen that are nobody's business: they are connected to only where the operator allows it.
 * `never`: link-local, multicast and addresses that lead to no host; they are not connected to.
 */
export const AddressScope = { Public: 'public', Internal: 'internal', Never: 'never' } as const
export type AddressScope = (typeof AddressScope)[keyof typeof AddressScope]

export const PortState = {
  Open: 'open',
  Refused: 'refused',
  /** Also where a firewall says nothing. */
  Timeout: 'timeout',
  Unreachable: 'unreachable',
  NotAsked: 'not-asked',
} as const
export type PortState = (typeof PortState)[keyof typeof PortState]

export interface PortSeen {
  readonly address: string
  readonly scope: AddressScope
  readonly state: PortState
}

export interface WebSeen extends PortSeen {
  /** With state `open`: whether what came is the challenge's answer. */
  readonly answer?: WebAnswer
  /** Of addresses with scope `public` alone: of the last answer. */
  readonly status?: number
  /** The first printable characters of its body. */
  readonly excerpt?: string
  /** Where a redirect leads that was not followed, and why not. */
  readonly location?: string
  readonly stopped?: RedirectStop
  /** That were followed. */
  readonly redirects?: number
}

export const WebAnswer = {
  Expected: 'expected',
  Other: 'other',
  /** A redirect that was not followed. */
  Redirect: 'redirect',
  /** It broke off, took too long, or was no HTTP. */
  None: 'none',
} as const
export type WebAnswer = (typeof WebAnswer)[keyof typeof WebAnswer]

export const RedirectStop = {
  NoLocation: 'no-location',
  /** To another scheme or port than the web's: authorities do not follow it, either. */
  OtherPort: 'other-port',
  /** To an IP address instead of a name; the same. */
  Address: 'address',
  /** Into a private network that the name does not lead to itself. */
  Internal: 'internal',
  NoAddress: 'no-address',
  TooMany: 'too-many',
} as const
export type RedirectStop = (typeof RedirectStop)[keyof typeof RedirectStop]

/**
 * TLS-ALPN-01 only where port 80 is closed as far as one sees from here, and 443 is not: a check from here
 * may fail by itself.
 */
export function preferredChallenge({ web = [], tls = [] }: AttemptReport): ChallengeKind {
  const asked = web.filter((each) => each.state !== 'not-asked')
  const isClosed = asked.length > 0 && asked.every((each) => each.state !== 'open')
  return isClosed && tls.some((each) => each.state === 'open') ? 'tls-alpn-01' : 'http-01'
}
