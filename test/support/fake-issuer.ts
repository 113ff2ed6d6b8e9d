import { createLocalIssuer } from '../../src/acme/local-issuer.ts'
import { IssueError } from '../../src/acme/issuer.ts'
import type { Challenge, Issuer, OpenOrder, OrderState, RenewalWindow } from '../../src/acme/issuer.ts'
import { ChallengeKind } from '../../src/domain/service/route-feed.ts'
import { createMemoryStore } from '../acme/memory-store.ts'

export interface FakeIssuerFaults {
  /**
   * The failure of the nth call of this name, counted from 1. A text is thrown as a plain `Error`, which is
   * no answer of an authority.
   */
  failureOf?: (call: keyof Issuer, nth: number) => IssueError | string | undefined
  /** The chain that is issued instead of a good one. */
  chain?: string
  offers?: readonly ChallengeKind[]
}

/** An authority in memory. It asks for proofs, and the local authority makes its certificates. */
export class FakeIssuer implements Issuer {
  readonly name = 'the fake authority'
  readonly faults: FakeIssuerFaults
  readonly calls: (keyof Issuer)[] = []
  /** The orders that were made, each with the chain that it replaces. */
  readonly made: { readonly url: string; readonly replacesChain?: string }[] = []
  /** Called when the authority checks a challenge. */
  onLook: (challenge: Challenge) => Promise<void> = async () => undefined
  window: RenewalWindow | undefined
  readonly #orders = new Map<string, { readonly localUrl: string; name: string; state: OrderState }>()
  readonly #local = createLocalIssuer({ store: createMemoryStore() })

  constructor(faults: FakeIssuerFaults = {}) {
    this.faults = faults
  }

  setState(url: string, state: OrderState | 'lost'): void {
    const order = this.#orders.get(url)
    if (state === 'lost') this.#orders.delete(url)
    else if (order !== undefined) order.state = state
  }

  async open(names: readonly string[], options: { readonly replacesChain?: string }): Promise<OpenOrder> {
    this.#called('open')
    const [name = ''] = names
    const { url: localUrl } = await this.#local.open(names, {})
    const url = `https://fake.test/order/${this.made.length + 1}`
    this.#orders.set(url, { localUrl, name, state: 'pending' })
    this.made.push({ url, ...options })
    return this.#shown(url)
  }

  async find(orderUrl: string): Promise<OpenOrder | undefined> {
    this.#called('find')
    return this.#orders.has(orderUrl) ? this.#shown(orderUrl) : undefined
  }

  async prove({ url, challenges }: OpenOrder, kind: ChallengeKind): Promise<void> {
    this.#called('prove')
    const state = this.#orders.get(url)?.state
    if (state === 'invalid') throw new IssueError('failed', 'the order is invalid')
    for (const challenge of challenges) if (challenge.kind === kind) await this.onLook(challenge)
    if (state === 'pending') this.setState(url, 'ready')
  }

  async finalise(orderUrl: string): Promise<void> {
    this.#called('finalise')
    this.setState(orderUrl, 'valid')
  }

  async download(orderUrl: string, csr: Buffer): Promise<string> {
    this.#called('download')
    const order = this.#orders.get(orderUrl)
    if (order?.state !== 'valid') throw new IssueError('failed', 'nothing was issued')
    return this.faults.chain ?? this.#local.download(order.localUrl, csr)
  }

  async renewalWindow(): Promise<RenewalWindow | undefined> {
    this.#called('renewalWindow')
    return this.window
  }

  async caaIdentities(): Promise<readonly string[]> {
    this.#called('caaIdentities')
    return ['fake.test']
  }

  #called(call: keyof Issuer): void {
    this.calls.push(call)
    const failure = this.faults.failureOf?.(call, this.calls.filter((one) => one === call).length)
    if (failure !== undefined) throw typeof failure === 'string' ? new Error(failure) : failure
  }

  #shown(url: string): OpenOrder {
    const { name, state } = this.#orders.get(url)!
    const offers = this.faults.offers ?? Object.values(ChallengeKind)
    const challenges = offers.map((kind) => {
      const token = `token-of-${kind}-${url.split('/').at(-1)}`
      return { name, kind, token, keyAuthorization: `${token}.thumbprint` }
    })
    return { url, state, challenges: state === 'pending' ? challenges : [] }
  }
}
