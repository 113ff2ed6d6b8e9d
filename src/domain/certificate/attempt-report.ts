import type { ChallengeKind } from '../service/route-feed.ts'

/**
 * What was seen in one attempt to get a certificate, kept as JSON. The parts are noted one after the other.
 * Each may be missing, because the attempt or its process may have ended before. The writer of each text and
 * list bounds its length.
 *
 * Users choose the names and with them the addresses. So an answer of an internal address is reported in one
 * word, and none of its content is kept: see `AddressScope`.
 */
export interface AttemptReport {
  readonly name?: string
  /** The authority's name, for people. */
  readonly authority?: string
  /**
   * The names by which CAA records may allow the authority. If CAA records exist, they have to name one of
   * these. The list is empty if the authority does not say its names.
   */
  readonly caaIdentities?: readonly string[]
  readonly dns?: DnsSeen
  readonly caa?: CaaSeen
  /** The answers to the HTTP-01 challenge when it was requested from here. */
  readonly web?: readonly WebSeen[]
  /** Whether port 443 of each address takes connections. */
  readonly tls?: readonly PortSeen[]
  readonly challenge?: ChallengeKind
  readonly outcome?: AttemptOutcome
  /** Why the attempt did not succeed, in one sentence. */
  readonly failure?: string
  /** The problem as the authority wrote it. */
  readonly problem?: { readonly type: string; readonly detail: string; readonly status?: number }
  /** When the authority wants to be asked again. */
  readonly retryAtMs?: number
}

/**
 * The end of an attempt. `later` and `paced` are no failures: the attempt goes on when the authority wants
 * it, or when the user may order again.
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
  /** The chain of aliases, beginning at the name. */
  readonly cname: readonly string[]
}

/**
 * The result of one DNS lookup. If `found` is empty and there is no failure, the name exists and has no
 * such record.
 */
export interface LookupSeen {
  readonly found: readonly string[]
  readonly failure?: LookupFailure
}

export const LookupFailure = {
  NoSuchName: 'no-such-name',
  /** The DNS server reported that it failed, often because the name's DNSSEC is broken. */
  ServerFailed: 'server-failed',
  NoAnswer: 'no-answer',
  Other: 'other',
} as const
export type LookupFailure = (typeof LookupFailure)[keyof typeof LookupFailure]

/**
 * The CAA records that apply to the name: the closest ones on the way from the name to the root (RFC 8659).
 * If there are none, `at` is absent.
 */
export interface CaaSeen {
  readonly at?: string
  readonly records: readonly CaaRecord[]
  /** Why the records of the name in `at` could not be looked up. */
  readonly failure?: LookupFailure
}

export interface CaaRecord {
  readonly critical: boolean
  readonly tag: string
  readonly value: string
}

/**
 * `internal` means loopback and private networks. The gateway of this installation may have such an address,
 * but so may services that outsiders must not probe. So these addresses are connected to only if the operator
 * allows it. `never` means link-local, multicast and addresses that lead to no host; nothing connects to
 * these.
 */
export const AddressScope = { Public: 'public', Internal: 'internal', Never: 'never' } as const
export type AddressScope = (typeof AddressScope)[keyof typeof AddressScope]

export const PortState = {
  Open: 'open',
  Refused: 'refused',
  /** Nothing was answered in time. A firewall that drops packets silently causes this, too. */
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
  /** If the port is open: whether the answer was that of the challenge. */
  readonly answer?: WebAnswer
  /** The status of the last answer; only for addresses with scope `public`. */
  readonly status?: number
  /** The first printable characters of the answer's body. */
  readonly excerpt?: string
  /** The target of a redirect that was not followed, and why it was not. */
  readonly location?: string
  readonly stopped?: RedirectStop
  /** How many redirects were followed. */
  readonly redirects?: number
}

export const WebAnswer = {
  Expected: 'expected',
  Other: 'other',
  /** A redirect that was not followed. */
  Redirect: 'redirect',
  /** The answer broke off, took too long, or was no HTTP. */
  None: 'none',
} as const
export type WebAnswer = (typeof WebAnswer)[keyof typeof WebAnswer]

export const RedirectStop = {
  NoLocation: 'no-location',
  /** To a scheme or port other than the web's. Authorities do not follow such a redirect, either. */
  OtherPort: 'other-port',
  /** To an IP address instead of a name. Authorities do not follow it, either. */
  Address: 'address',
  /** Into a private network to which the name itself does not lead. */
  Internal: 'internal',
  NoAddress: 'no-address',
  TooMany: 'too-many',
} as const
export type RedirectStop = (typeof RedirectStop)[keyof typeof RedirectStop]

/**
 * Chooses TLS-ALPN-01 only if port 80 looks closed from here and port 443 looks open. If both look closed,
 * the check from here has probably failed and not the ports, so HTTP-01 stays.
 */
export function preferredChallenge({ web = [], tls = [] }: AttemptReport): ChallengeKind {
  const asked = web.filter((each) => each.state !== 'not-asked')
  const isClosed = asked.length > 0 && asked.every((each) => each.state !== 'open')
  return isClosed && tls.some((each) => each.state === 'open') ? 'tls-alpn-01' : 'http-01'
}
