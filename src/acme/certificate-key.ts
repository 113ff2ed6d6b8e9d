import { webcrypto } from 'node:crypto'
import { cryptoKeysOf, keyAlgorithm, loadX509, makeKey } from '../x509/key-pair.ts'

/**
 * The private key of a certificate that is about to be ordered, PEM. It has to be kept before the order is
 * finalised.
 */
export function makeCertificateKey(): string {
  return makeKey()
}

/**
 * What an order is finalised with, DER: the names, and the public half of a key from `makeCertificateKey`.
 * Two of the same key differ in their signature alone.
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
