import 'reflect-metadata'
import { createHash, webcrypto } from 'node:crypto'
import { Extension, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509'
import type { CertificatePem } from '../../src/gateway/listeners/context-cache.ts'

const algorithms = {
  ec: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  rsa: {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
} as const
const dayMs = 86_400_000
/** `id-pe-acmeIdentifier` of RFC 8737. */
const acmeIdentifier = '1.3.6.1.5.5.7.1.31'

export interface NamedCertificate {
  readonly name: string
  readonly key?: keyof typeof algorithms
  readonly notAfterMs?: number
  /** Present for the certificate of a TLS-ALPN-01 challenge. */
  readonly keyAuthorization?: string
}

/** A certificate for one name, signed by itself. */
export async function namedCertificate(wanted: NamedCertificate): Promise<CertificatePem> {
  const { name, key = 'ec', notAfterMs = Date.now() + dayMs, keyAuthorization } = wanted
  const algorithm = algorithms[key]
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=Roost test',
      notBefore: new Date(Date.now() - dayMs),
      notAfter: new Date(notAfterMs),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
        ...(keyAuthorization === undefined
          ? []
          : [new Extension(acmeIdentifier, true, digest(keyAuthorization))]),
      ],
    },
    webcrypto,
  )
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  return {
    chain: `${certificate.toString('pem')}\n`,
    key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
  }
}

/**
 * The SHA-256 digest of the key authorization as an OCTET STRING in DER, the content that RFC 8737 demands.
 */
function digest(keyAuthorization: string): Buffer {
  return Buffer.concat([Buffer.from([4, 32]), createHash('sha256').update(keyAuthorization).digest()])
}
