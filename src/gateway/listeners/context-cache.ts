import { constants, hkdfSync, randomBytes } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import type { TicketSecret } from './ticket-secret.ts'

export interface CertificatePem {
  readonly chain: string
  readonly key: string
}

/**
 * For whom a context is made: a name of a service, and its certificate. A TLS session is resumed only under a
 * context for which all three are equal.
 */
export interface ContextOwner {
  readonly serviceUuid: string
  readonly fqdn: string
  /**
   * The UUID of the certificate of a custom domain. Undefined: the certificate is that of the metro domain.
   */
  readonly certificateUuid: string | undefined
}

interface Held {
  readonly pem: CertificatePem
  readonly owner: ContextOwner
  readonly context: SecureContext
}

/**
 * TLS 1.2 only with forward secrecy and authenticated encryption; all of TLS 1.3 is of that kind. The
 * ciphers are equally good, so the client's order counts: the client knows whether its machine has AES built
 * in.
 */
const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')
const leastVersion = 'TLSv1.2'
/**
 * How long a session may be resumed. It is long enough for the next visit to a page, but not for the next
 * day's: keys that were agreed on long ago should not be relied on.
 */
const sessionSeconds = 3_600
const ticketKeyBytes = 48

export interface ContextCacheOptions {
  /** The largest number of contexts. Each takes about 40 KB, and half a millisecond to make. */
  readonly maxContexts: number
  readonly secret: TicketSecret
}

/**
 * TLS contexts, made when they are first asked for. When there are too many, the one that was used least
 * recently is dropped. Sessions survive that, because the key of their tickets follows from the owner and a
 * secret. They end with another certificate of a custom domain, with another service of the
 * same name, and after half a day at most.
 */
export class ContextCache {
  readonly #maxContexts: number
  readonly #secrets: TicketSecret
  /** The contexts, in the order in which they were last asked for. */
  readonly #held = new Map<string, Held>()
  #secret: Buffer

  constructor({ maxContexts, secret }: ContextCacheOptions) {
    this.#maxContexts = maxContexts
    this.#secrets = secret
    this.#secret = secret.current
  }

  get size(): number {
    return this.#held.size
  }

  /** Returns the context of an owner. Throws OpenSSL's error if the chain and the key can not be used. */
  get(owner: ContextOwner, pem: CertificatePem): SecureContext {
    this.#takeSecret()
    const id = idOf(owner)
    const held = this.#held.get(id)
    this.#held.delete(id)
    if (held?.pem.chain === pem.chain && held.pem.key === pem.key) {
      this.#held.set(id, held)
      return held.context
    }
    const context = makeContext(pem, this.#ticketKeys(owner, pem))
    this.#held.set(id, { pem: { chain: pem.chain, key: pem.key }, owner, context })
    for (const [oldest] of this.#held) {
      if (this.#held.size <= this.#maxContexts) break
      this.#held.delete(oldest)
    }
    return context
  }

  /** Drops the contexts whose owner matches. Connections that use a dropped context keep it. */
  drop(is: (owner: ContextOwner) => boolean): void {
    for (const [id, { owner }] of this.#held) if (is(owner)) this.#held.delete(id)
  }

  /**
   * Returns the key of the tickets. It does not depend on the metro certificate: a renewed one still
   * belongs to the same operator, and its names do not pass to other people. So sessions survive its
   * renewal.
   */
  #ticketKeys(owner: ContextOwner, { chain }: CertificatePem): Buffer {
    const bound = owner.certificateUuid === undefined ? '' : chain
    return Buffer.from(hkdfSync('sha256', this.#secret, bound, idOf(owner), ticketKeyBytes))
  }

  #takeSecret(): void {
    const { current } = this.#secrets
    if (current === this.#secret) return
    this.#secret = current
    this.#held.clear()
  }
}

/** A context whose sessions are never resumed by another context: it has a random key for its tickets. */
export function contextOfItsOwn(pem: CertificatePem): SecureContext {
  return makeContext(pem, randomBytes(ticketKeyBytes))
}

function makeContext({ chain, key }: CertificatePem, ticketKeys: Buffer): SecureContext {
  return createSecureContext({
    cert: chain,
    key,
    minVersion: leastVersion,
    ciphers,
    ticketKeys,
    sessionTimeout: sessionSeconds,
    // Nobody needs renegotiation, and a client could make the gateway sign for each.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  })
}

function idOf({ serviceUuid, fqdn, certificateUuid = '' }: ContextOwner): string {
  return `${serviceUuid} ${fqdn} ${certificateUuid}`
}
