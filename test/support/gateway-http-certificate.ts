import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import { X509CertificateGenerator } from '@peculiar/x509'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 86_400_000

let made: Promise<{ readonly key: string; readonly cert: string }> | undefined

/** One self-signed certificate for all names of the tests. */
export async function testCertificate(): Promise<{ readonly key: string; readonly cert: string }> {
  made ??= makeCertificate()
  return made
}

async function makeCertificate(): Promise<{ readonly key: string; readonly cert: string }> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=app.test',
      notBefore: new Date(Date.now() - dayMs),
      notAfter: new Date(Date.now() + dayMs),
      keys,
      signingAlgorithm: algorithm,
    },
    webcrypto,
  )
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  return {
    key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
    cert: certificate.toString('pem'),
  }
}
