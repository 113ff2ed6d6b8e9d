import { webcrypto } from 'node:crypto'
import { cryptoKeysOf, keyAlgorithm, loadX509, makeKey } from '../x509/key-pair.ts'

/**
 * Makes the private key of a certificate that is about to be ordered, in PEM. The key has to be kept before
 * the order is finalised.
 */
export function makeCertificateKey(): string {
  return makeKey()
}

/**
 * The signing request that finalises an order, in DER: the names, and the public half of a key from
 * `makeCertificateKey`. Two requests with the same key differ only in their signature.
 */
export async function makeSigningRequest(key: string, names: readonly string[]): Promise<Buffer> {
  const x509 = await loadX509()
  const request = await x509.Pkcs10CertificateRequestGenerator.create(
    {
      keys: cryptoKeysOf(key),
      signingAlgorithm: keyAlgorithm,
      extensions: [new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value })))],
    },
    webcrypto,
  )
  return Buffer.from(request.rawData)
}
