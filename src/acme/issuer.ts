import type { ChallengeKind } from '../domain/service/route-feed.ts'

/**
 * An authority that issues certificates, in the steps of ACME (RFC 8555): an order for names, a proof of
 * control for each, a signing request, a chain. Every call may be repeated. All calls fail with
 * `IssueError`. Between calls a caller has to remember only the order's URL, so nothing is lost with a
 * process. An aborted signal ends a call with its reason.
 */
export interface Issuer {
  /** A few words for people: the directory's host, or `the local authority`. */
  readonly name: string
  /**
   * Makes a new order for these names. `replacesChain` is the certificate that it renews, for authorities
   * that want to know.
   */
  open(names: readonly string[], options: { readonly replacesChain?: string }): Promise<OpenOrder>
  /**
   * Reads an order. Returns undefined if the authority does not have the order any more. Then the caller has
   * to make a new one.
   */
  find(orderUrl: string): Promise<OpenOrder | undefined>
  /**
   * Called when the challenges are shown. Asks the authority to look, and resolves when the order is ready
   * to be finalised.
   */
  prove(order: OpenOrder, kind: ChallengeKind, signal: AbortSignal): Promise<void>
  /** Resolves when the certificate is there. `csr` is DER. */
  finalise(orderUrl: string, csr: Buffer, signal: AbortSignal): Promise<void>
  /**
   * Returns PEM, the certificate first. `csr` is the one that finalised the order: the local authority keeps
   * nothing.
   */
  download(orderUrl: string, csr: Buffer): Promise<string>
  /** Returns when the authority would like the renewal (RFC 9773), or undefined if it does not say. */
  renewalWindow(chain: string): Promise<RenewalWindow | undefined>
  /**
   * The values of which CAA records have to name one, if the name has such records. Empty if the authority
   * does not demand that.
   */
  caaIdentities(): Promise<readonly string[]>
}

export type OrderState = 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'

export interface OpenOrder {
  readonly url: string
  readonly state: OrderState
  /** The challenges of names that are not proved yet. It is empty if no proof is missing. */
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
  /** The time at which the caller should ask for this window again. */
  readonly askAgainMs: number
}

/**
 * The failure of a call. `failed`: this attempt is over, but another may succeed. `later`: the authority can
 * not be reached, or wants no requests until `retryAtMs`; the attempt goes on. `refused`: the authority will
 * never issue this.
 */
export class IssueError extends Error {
  override readonly name = 'IssueError'
  readonly kind: 'failed' | 'later' | 'refused'
  readonly retryAtMs: number | undefined
  /**
   * True if the platform itself postpones the attempt, not the authority. It does so to leave the
   * authority's limits to all users.
   */
  readonly isPaced: boolean
  /**
   * The problem as the authority wrote it (RFC 7807), with a bounded length. Undefined if the authority gave
   * none.
   */
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
