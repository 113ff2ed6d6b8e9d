import { createHash, createPublicKey, randomBytes, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { fullName, kindName } from '../domain/part-name.ts'
import type { PartName } from '../domain/part-name.ts'
import { backDatedMs, issueLeaf, makeRoot } from '../x509/authority.ts'
import { keyAlgorithm } from '../x509/key-pair.ts'
import type { KeyPairPem } from '../x509/key-pair.ts'

const dayMs = 86_400_000
/**
 * How long a part's certificate is valid. A part asks for the next one long before the end. So a part that
 * was away for some days is still known when it comes back.
 */
export const partCertificateMs = 7 * dayMs

/** A public key that nobody can issue a certificate for. */
export class UnusablePublicKey extends Error {
  override readonly name = 'UnusablePublicKey'
}

/** Makes the authority of an installation. It issues certificates for the installation's own parts alone. */
export async function makePartAuthority(nowMs: number): Promise<KeyPairPem> {
  return await makeRoot({ commonName: `Roost parts ${randomBytes(3).toString('hex')}` }, nowMs)
}

/** Issues the certificate of a part for its public key (PEM). Throws `UnusablePublicKey`. */
export async function issuePartCertificate(
  authority: KeyPairPem,
  wanted: { readonly name: PartName; readonly publicKey: string; readonly nowMs: number },
): Promise<string> {
  const { name, nowMs } = wanted
  return await issueLeaf(authority, {
    names: [fullName(name), kindName(name.part)],
    publicKey: readPublicKey(wanted.publicKey).toCryptoKey(keyAlgorithm, true, ['verify']),
    notBeforeMs: nowMs - backDatedMs,
    notAfterMs: nowMs + partCertificateMs,
    forClients: true,
  })
}

/** The fingerprint of a certificate (PEM): the hash of all of it. */
export function fingerprintOf(certificate: string): Buffer {
  return createHash('sha256').update(new X509Certificate(certificate).raw).digest()
}

/** Reads a public key (PEM) that a certificate can be issued for. Throws `UnusablePublicKey`. */
export function readPublicKey(pem: string): KeyObject {
  const key = parsedKey(pem)
  if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  throw new UnusablePublicKey('it is no key of the curve P-256')
}

function parsedKey(pem: string): KeyObject {
  // Node also takes the public key out of a private key or a certificate, which nobody should send.
  if (!pem.startsWith('-----BEGIN PUBLIC KEY-----')) throw new UnusablePublicKey('it is no public key in PEM')
  try {
    return createPublicKey(pem)
  } catch (cause) {
    throw new UnusablePublicKey('it is no public key in PEM', { cause })
  }
}
