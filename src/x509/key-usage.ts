import type { X509Certificate } from 'node:crypto'
import { loadX509 } from './key-pair.ts'

/**
 * Whether the key may sign handshakes of TLS, as servers do. A certificate that names no use of its key
 * permits every use. Roots that were made for an authority permit only certificates and revocation lists,
 * and clients refuse them as a server's certificate.
 */
export async function maySignHandshakes({ raw }: X509Certificate): Promise<boolean> {
  const x509 = await loadX509()
  try {
    const named = new x509.X509Certificate(raw).getExtension(x509.KeyUsagesExtension)
    return named === null || (named.usages & x509.KeyUsageFlags.digitalSignature) !== 0
  } catch {
    // Node can read the certificate and this library can not. So no restriction is known, and the answer is
    // yes.
    return true
  }
}
