import { X509Certificate } from 'node:crypto'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Routes } from '../routes.ts'
import type { MetroCertificate } from './server-contexts.ts'

/**
 * How many certificates are read in one go. Each takes about 50 µs, and requests must not wait for
 * thousands.
 */
const readAtOnce = 20

interface Read {
  readonly chain: string
  /** Undefined if the chain is no certificate. */
  readonly notAfterMs: number | undefined
}

/** When the certificates in use expire. Each is read once, and only when somebody asks. */
export class CertificateExpiry {
  readonly #routes: Routes
  readonly #metro: MetroCertificate
  #read = new Map<string, Read>()

  constructor({ routes, metro }: { readonly routes: Routes; readonly metro: MetroCertificate }) {
    this.#routes = routes
    this.#metro = metro
  }

  /** The earliest expiry of the metro certificate and the certificates of all domains. */
  async soonestMs(): Promise<number | undefined> {
    const read = new Map<string, Read>()
    let soonestMs: number | undefined
    let fresh = 0
    for (const [id, chain] of this.#inUse()) {
      const known = this.#read.get(id)
      const one = known?.chain === chain ? known : { chain, notAfterMs: notAfterMsOf(chain) }
      read.set(id, one)
      if (one.notAfterMs !== undefined) soonestMs = Math.min(soonestMs ?? one.notAfterMs, one.notAfterMs)
      if (one !== known && ++fresh % readAtOnce === 0) await yieldToOthers()
    }
    this.#read = read
    return soonestMs
  }

  #inUse(): ReadonlyMap<string, string> {
    const chains = new Map([['', this.#metro.current.chain]])
    for (const { domains } of this.#routes.services()) {
      for (const { certificateUuid } of domains) {
        const chain =
          certificateUuid === undefined ? undefined : this.#routes.certificate(certificateUuid)?.chain
        if (certificateUuid !== undefined && chain !== undefined) chains.set(certificateUuid, chain)
      }
    }
    return chains
  }
}

function notAfterMsOf(chain: string): number | undefined {
  try {
    return new X509Certificate(chain).validToDate.getTime()
  } catch {
    // The chain is no certificate. A client that asks for the certificate's name is refused, and that is
    // logged.
    return undefined
  }
}
