import { createHash, webcrypto } from 'node:crypto'
import { cryptoKeysOf, keyAlgorithm, loadX509, makeKey } from '../x509/key-pair.ts'
import type { KeyPairPem } from '../x509/key-pair.ts'

const acmeIdentifierOid = '1.3.6.1.5.5.7.1.31'
/** The header of an OCTET STRING of 32 bytes, in DER; the digest follows it. */
const digestHeader = Buffer.from([0x04, 0x20])
const dayMs = 86_400_000
/** The lifetime of the certificate. It is longer than an attempt lasts. */
const lifeMs = 30 * dayMs

/** The certificate for the answer to a handshake with `acme-tls/1` for the name (RFC 8737, 3). */
export async function makeChallengeCertificate(
  challenge: { readonly name: string; readonly keyAuthorization: string },
  nowMs: number,
): Promise<KeyPairPem> {
  const x509 = await loadX509()
  const key = makeKey()
  const digest = createHash('sha256').update(challenge.keyAuthorization).digest()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=Roost challenge',
      notBefore: new Date(nowMs - dayMs),
      notAfter: new Date(nowMs + lifeMs),
      signingAlgorithm: keyAlgorithm,
      keys: cryptoKeysOf(key),
      extensions: [
        new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: challenge.name }]),
        new x509.Extension(acmeIdentifierOid, true, Buffer.concat([digestHeader, digest])),
      ],
    },
    webcrypto,
  )
  return { chain: `${certificate.toString('pem')}\n`, key }
}
