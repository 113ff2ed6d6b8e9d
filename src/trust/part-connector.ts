import { buildConnector } from 'undici'
import { clientTls } from './part-identity.ts'
import type { PartIdentity } from './part-identity.ts'

/**
 * How a client connects to parts: to addresses with `https:` with the identity that it has at that moment, to
 * others without. The header `Host` of a request names the part that has to answer, see `hostHeader`.
 */
export function partConnector(
  identity: () => PartIdentity | undefined,
  options: { readonly timeout?: number } = {},
): buildConnector.connector {
  let known: PartIdentity | undefined
  // Calls in HTTP/2 are those to Temporal.
  const plain = { ...options, allowH2: false }
  let connect = buildConnector(plain)
  return (wanted, callback) => {
    const current = identity()
    if (current !== undefined && current !== known) {
      known = current
      connect = buildConnector({ ...plain, ...clientTls(current) })
    }
    connect(wanted, callback)
  }
}

/** The header that has TLS check that the part with this name answers. */
export function hostHeader(url: URL, name: string): { readonly host?: string } {
  return url.protocol === 'https:' ? { host: name } : {}
}
