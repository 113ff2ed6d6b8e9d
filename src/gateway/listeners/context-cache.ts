import { constants, hkdfSync, randomBytes } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'

export interface CertificatePem {
  readonly chain: string
  readonly key: string
}

/** For whom a context is. Sessions are resumed under the very same words only. */
export interface ContextOwner {
  readonly serviceUuid: string
  readonly fqdn: string
  /** Absent: the metro domain's. */
  readonly certificateUuid: string | undefined
}

interface Held {
  readonly pem: CertificatePem
  readonly owner: ContextOwner
  readonly context: SecureContext
}

/**
 * TLS 1.2 only with forward secrecy and authenticated encryption; all of 1.3 is of that kind. They are
 * equally good, so the client's order counts: it knows whether its machine has AES built in.
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
/** A page's next visit, not the next day's: what was agreed on long ago is not to be relied on. */
const sessionSeconds = 3_600
const ticketKeyBytes = 48
const secretBytes = 32
/**
 * Whoever gets hold of the tickets' secret can read what was sent under it; and a session that is resumed
 * again and again ends.
 */
const secretLifeMs = 12 * 3_600_000

export interface ContextCacheOptions {
  /** Each takes about 40 KB, and half a millisecond to make. */
  readonly maxContexts: number
  readonly now?: () => number
}

/**
 * TLS contexts, made when they are first asked for. The one that was not asked for the longest goes when
 * there are too many; sessions survive that, because the key of their tickets follows from the owner and the
 * certificate, and from a secret of this process. They do not survive another certificate, another service of
 * the same name, or half a day.
 */
export class ContextCache {
  readonly #maxContexts: number
  readonly #now: () => number
  /** In the order in which they were last asked for. */
  readonly #held = new Map<string, Held>()
  #secret = randomBytes(secretBytes)
  #secretMadeMs: number

  constructor({ maxContexts, now = Date.now }: ContextCacheOptions) {
    this.#maxContexts = maxContexts
    this.#now = now
    this.#secretMadeMs = now()
  }

  get size(): number {
    return this.#held.size
  }

  /** Throws what OpenSSL says of a chain and a key that are of no use. */
  get(owner: ContextOwner, pem: CertificatePem): SecureContext {
    this.#renewSecret()
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

  /** What is connected with a context keeps it. */
  drop(is: (owner: ContextOwner) => boolean): void {
    for (const [id, { owner }] of this.#held) if (is(owner)) this.#held.delete(id)
  }

  /**
   * A renewed metro certificate is still the same operator's, and its names are not other people's after it:
   * sessions stay.
   */
  #ticketKeys(owner: ContextOwner, { chain }: CertificatePem): Buffer {
    const bound = owner.certificateUuid === undefined ? '' : chain
    return Buffer.from(hkdfSync('sha256', this.#secret, bound, idOf(owner), ticketKeyBytes))
  }

  #renewSecret(): void {
    const nowMs = this.#now()
    // A clock that was set back must not keep it for longer.
    if (Math.abs(nowMs - this.#secretMadeMs) < secretLifeMs) return
    this.#secret = randomBytes(secretBytes)
    this.#secretMadeMs = nowMs
    this.#held.clear()
  }
}

/** One whose sessions nobody resumes, because nobody else has the key of its tickets. */
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
    // Nobody needs it, and a client would have us sign for each.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  })
}

function idOf({ serviceUuid, fqdn, certificateUuid = '' }: ContextOwner): string {
  return `${serviceUuid} ${fqdn} ${certificateUuid}`
}
