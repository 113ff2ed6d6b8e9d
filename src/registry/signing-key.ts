import { createPrivateKey, webcrypto, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/**
 * The key that signs registry tokens, and the certificate by which the registry knows the key. The registry
 * gets the certificate as its `rootcertbundle`. Every token carries it, too (`x5c`), so no key identifiers
 * need to agree.
 */
export interface RegistrySigningKey {
  readonly key: KeyObject
  /** The certificate: DER in base64, as `x5c` of a JWT has it. */
  readonly certificate: string
}

/**
 * How long the certificate is valid. The registry refuses tokens once it has expired. A data directory is
 * not expected to be used for longer than this.
 */
const certificateLifetimeDays = 7300
const dayMs = 86_400_000
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** Makes a new key pair: both values are PEM, `key` is PKCS #8 and secret. */
export async function generateRegistrySigningKey(
  nowMs: number,
): Promise<{ key: string; certificate: string }> {
  // Both libraries are loaded only when a key is made. The certificate library needs the polyfill to be
  // loaded before it.
  await import('reflect-metadata')
  const { X509CertificateGenerator } = await import('@peculiar/x509')
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: '01',
      name: 'CN=Roost registry tokens',
      // The certificate is valid from one day earlier. If the clock is corrected right after the first
      // start, the certificate stays valid.
      notBefore: new Date(nowMs - dayMs),
      notAfter: new Date(nowMs + certificateLifetimeDays * dayMs),
      signingAlgorithm: algorithm,
      keys,
    },
    webcrypto,
  )
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey))
  return { key: privateKeyPem(pkcs8), certificate: `${certificate.toString('pem')}\n` }
}

export function readRegistrySigningKey(pem: { key: string; certificate: string }): RegistrySigningKey {
  const certificate = new X509Certificate(pem.certificate)
  const key = createPrivateKey(pem.key)
  if (!certificate.checkPrivateKey(key)) {
    throw new Error('the registry key and the registry certificate do not belong together')
  }
  return { key, certificate: certificate.raw.toString('base64') }
}

function privateKeyPem(pkcs8: Buffer): string {
  return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString()
}
