import type { ChallengeKind } from '../domain/service/route-feed.ts'

/**
 * An authority that issues certificates, as ACME (RFC 8555) has it: an order for names, a proof of control
 * for each, a signing request, a chain. Every call may be repeated. All fail with `IssueError`; what a caller
 * has to remember between calls is the order's URL, so nothing is lost with a process. A signal that is
 * aborted ends a call with its reason.
 */
export interface Issuer {
  /** In a few words, for people: the directory's host, or `the local authority`. */
  readonly name: string
  /**
   * A new order for these names. `replaces` is the certificate that it renews, where the authority wants to
   * know.
   */
  open(names: readonly string[], options: { readonly replacesChain?: string }): Promise<OpenOrder>
  /** Undefined where the authority does not have it any more: then a new one has to be made. */
  find(orderUrl: string): Promise<OpenOrder | undefined>
  /**
   * The challenges are shown: asks the authority to look, and resolves when the order is ready to be
   * finalised.
   */
  prove(order: OpenOrder, kind: ChallengeKind, signal: AbortSignal): Promise<void>
  /** Resolves when the certificate is there. `csr` is DER. */
  finalise(orderUrl: string, csr: Buffer, signal: AbortSignal): Promise<void>
  /**
   * PEM, the certificate first. `csr` is the one that the order was finalised with: the local authority keeps
   * nothing.
   */
  download(orderUrl: string, csr: Buffer): Promise<string>
  /** When the authority would like the renewal (RFC 9773); undefined where it does not say. */
  renewalWindow(chain: string): Promise<RenewalWindow | undefined>
  /**
   * One of these has to be named in CAA records, where a name has some; empty where the authority does not
   * ask for them.
   */
  caaIdentities(): Promise<readonly string[]>
}

export type OrderState = 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'

export interface OpenOrder {
  readonly url: string
  readonly state: OrderState
  /** Of names that are not proved yet; empty where nothing is to be shown. */
  readonly challenges: readonly Challenge[]
}

export interface Challenge {
  readonly name: string
  readonly kind: ChallengeKind
  readonly token: string
  readonly keyAuthorization: string
}

export interface RenewalWindow {
  readonly startMs: number
  readonly endMs: number
  /** When to ask again. */
  readonly askAgainMs: number
}

/**
 * `failed`: this attempt is over, another may do. `later`: the authority is away or wants to be left alone
 * until `retryAtMs`; the attempt goes on. `refused`: it will never issue this.
 */
export class IssueError extends Error {
  override readonly name = 'IssueError'
  readonly kind: 'failed' | 'later' | 'refused'
  readonly retryAtMs: number | undefined
  /**
   * Not the authority puts it off, but the platform, so that the authority's limits are left to all users.
   */
  readonly isPaced: boolean
  /** As the authority wrote it (RFC 7807), bounded; undefined where it said nothing. */
  readonly problem: AuthorityProblem | undefined
  constructor(
    kind: IssueError['kind'],
    message: string,
    options: ErrorOptions & {
      readonly retryAtMs?: number
      readonly problem?: AuthorityProblem
      readonly isPaced?: boolean
    } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.retryAtMs = options.retryAtMs
    this.isPaced = options.isPaced ?? false
    this.problem = options.problem
  }
}

export interface AuthorityProblem {
  readonly type: string
  readonly detail: string
  readonly status?: number
}
