import type { SecureContext } from 'node:tls'
import { ChallengeKind } from '../../domain/service/route-feed.ts'
import type { RouteChallenge, RouteService } from '../../domain/service/route-feed.ts'
import type { RouteChange, Routes } from '../routes.ts'
import { ContextCache, contextOfItsOwn } from './context-cache.ts'
import type { CertificatePem, ContextOwner } from './context-cache.ts'
import { RenewedTicketSecret } from './ticket-secret.ts'
import type { TicketSecret } from './ticket-secret.ts'

/** The certificate of the metro domain and everything below it. `current` may change at any time. */
export interface MetroCertificate {
  readonly current: CertificatePem
}

/** The certificate with which a handshake is answered, or the reason why there is none. */
export type Shown =
  | { readonly kind: 'context'; readonly context: SecureContext }
  /** The name is served, but its certificate is not there yet, so no handshake can show it. */
  | { readonly kind: 'pending' }
  /** The certificate that was uploaded or issued can not be used by TLS. */
  | { readonly kind: 'unusable' }

/**
 * A certificate that TLS can not use. Each one is reported once. `why` is OpenSSL's message, which contains
 * neither key nor chain.
 */
export interface UnusableCertificate {
  readonly certificateUuid: string | undefined
  readonly fqdn: string
  readonly why: string
}

export interface ServerContextsOptions {
  readonly routes: Routes
  readonly metro: MetroCertificate
  readonly maxContexts?: number
  readonly onUnusable?: (certificate: UnusableCertificate) => void
  /** If it is absent, sessions are resumed only by these contexts. */
  readonly ticketSecret?: TicketSecret | undefined
}

/**
 * The largest number of contexts: enough for most of the names that are asked for within an hour, on a
 * gateway of the planned size. They take 40 MB.
 */
const defaultMaxContexts = 1_000
const pending: Shown = { kind: 'pending' }
const unusable: Shown = { kind: 'unusable' }

/** Decides with which certificate a name is answered. */
export class ServerContexts {
  readonly #options: ServerContextsOptions
  readonly #cache: ContextCache
  /**
   * The chains that OpenSSL refused, by the UUID of the certificate or the token of the ACME challenge.
   * Trying them again is expensive, and reporting them again helps nobody.
   */
  readonly #refused = new Map<string, string>()
  readonly #unsubscribe: () => void

  constructor(options: ServerContextsOptions) {
    const { routes, maxContexts = defaultMaxContexts } = options
    this.#options = options
    this.#cache = new ContextCache({ maxContexts, secret: options.ticketSecret ?? new RenewedTicketSecret() })
    this.#unsubscribe = routes.onChange((change) => this.#forget(change))
  }

  get held(): number {
    return this.#cache.size
  }

  /** The number of certificates that were needed for a handshake and that TLS could not use. */
  get unusable(): number {
    return this.#refused.size
  }

  /**
   * Returns what a handshake for `name` is answered with. `name` is in lower case and without final dot; it
   * is empty if the client names none.
   */
  of(name: string): Shown {
    const { routes, metro } = this.#options
    const service = name === '' ? undefined : routes.serviceOf(name)
    const domain = service === undefined ? undefined : domainOf(service, name)
    // Names that nobody serves get the metro certificate. A person who accepts it reads that there is no
    // service.
    const owner: ContextOwner = {
      serviceUuid: service?.uuid ?? '',
      fqdn: domain?.fqdn ?? '',
      certificateUuid: domain?.certificateUuid,
    }
    if (owner.certificateUuid === undefined) return this.#shown(owner, metro.current)
    const { chain, key } = routes.certificate(owner.certificateUuid) ?? {}
    return chain === undefined || key === undefined ? pending : this.#shown(owner, { chain, key })
  }

  /** Returns the certificate of a challenge, or undefined if no authority checks that name now. */
  ofChallenge(name: string): SecureContext | undefined {
    for (const challenge of this.#options.routes.challenges()) {
      if (challenge.kind !== ChallengeKind.TlsAlpn01 || challenge.fqdn !== name) continue
      const context = this.#challengeContext(challenge)
      if (context !== undefined) return context
    }
    return undefined
  }

  /** Whether a session of one name may be resumed under the other. */
  areOne(name: string, other: string): boolean {
    const { routes } = this.#options
    const service = routes.serviceOf(name)
    if (service?.uuid !== routes.serviceOf(other)?.uuid) return false
    return service === undefined || domainOf(service, name)?.fqdn === domainOf(service, other)?.fqdn
  }

  close(): void {
    this.#unsubscribe()
    this.#cache.drop(() => true)
  }

  #challengeContext({ token, fqdn, chain, key }: RouteChallenge): SecureContext | undefined {
    if (chain === undefined || key === undefined) return undefined
    return this.#tried({ id: token, chain, certificateUuid: undefined, fqdn }, () =>
      contextOfItsOwn({ chain, key }),
    )
  }

  #shown(owner: ContextOwner, pem: CertificatePem): Shown {
    const { certificateUuid, fqdn } = owner
    const context = this.#tried({ id: certificateUuid ?? '', chain: pem.chain, certificateUuid, fqdn }, () =>
      this.#cache.get(owner, pem),
    )
    return context === undefined ? unusable : { kind: 'context', context }
  }

  #tried(
    what: Omit<UnusableCertificate, 'why'> & { readonly id: string; readonly chain: string },
    make: () => SecureContext,
  ): SecureContext | undefined {
    const { id, chain, certificateUuid, fqdn } = what
    if (this.#refused.size > 0 && this.#refused.get(id) === chain) return undefined
    try {
      const context = make()
      this.#refused.delete(id)
      return context
    } catch (error) {
      this.#refused.set(id, chain)
      const why = error instanceof Error ? error.message : 'it can not be read'
      this.#options.onUnusable?.({ certificateUuid, fqdn, why })
      return undefined
    }
  }

  #forget({ certificates, challenges, services }: RouteChange): void {
    for (const id of certificates) this.#refused.delete(id)
    for (const id of challenges) this.#refused.delete(id)
    if (certificates.size === 0 && services.size === 0) return
    this.#cache.drop(
      ({ certificateUuid, serviceUuid }) =>
        services.has(serviceUuid) || (certificateUuid !== undefined && certificates.has(certificateUuid)),
    )
  }
}

/** The service's own domain for a name: the name itself, else the longest wildcard. */
function domainOf(service: RouteService, name: string): RouteService['domains'][number] | undefined {
  let found: RouteService['domains'][number] | undefined
  for (const domain of service.domains) {
    const { fqdn } = domain
    if (fqdn === name) return domain
    if (!fqdn.startsWith('*.') || !name.endsWith(fqdn.slice(1))) continue
    if (found === undefined || fqdn.length > found.fqdn.length) found = domain
  }
  return found
}
