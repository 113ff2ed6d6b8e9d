import { createPrivateKey, randomBytes, sign, verify } from 'node:crypto'
import type { KeyObject, X509Certificate } from 'node:crypto'
import { pemBlocks } from './pem-block.ts'

/** The fewest bits of an RSA key. Browsers and the authorities' rules demand them. */
export const minRsaBits = 2_048
/**
 * The most bits of an RSA key. A handshake with 8192 bits takes the gateway ten times as long, and the
 * gateway also serves others.
 */
export const maxRsaBits = 4_096
/** The curves that are accepted, by OpenSSL's names: P-256, P-384 and P-521. */
const curves: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

/** What is wrong with a private key. It contains nothing of the key. */
export type PrivateKeyFlaw =
  | { readonly kind: 'key-not-pem'; readonly flaw: 'no-pem' | 'unfinished' | 'escaped-lines' }
  | { readonly kind: 'key-encrypted' }
  /** The text holds something other than one private key. */
  | { readonly kind: 'key-holds'; readonly labels: readonly string[] }
  | { readonly kind: 'key-unreadable' }
  /** A type of key that is not accepted, such as `ed25519`. */
  | { readonly kind: 'key-type'; readonly type: string }
  | { readonly kind: 'key-curve'; readonly curve: string }
  | { readonly kind: 'key-bits'; readonly bits: number }

export interface PrivateKey {
  readonly privateKey: KeyObject
  /** The key as PKCS #8. */
  readonly pem: string
  /** Whether clients that have this certificate accept what the key signs. */
  matches(certificate: X509Certificate): boolean
}

const keyLabels: ReadonlySet<string> = new Set(['PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY'])
/** The label of the block that OpenSSL writes before the key to name the curve. */
const parametersLabel = 'EC PARAMETERS'
const encryptedLabel = 'ENCRYPTED PRIVATE KEY'
/**
 * The header that marks an encrypted key. The older form of RFC 1421 keeps the key's label and adds this
 * header.
 */
const encryptedHeader = /^Proc-Type: *4 *, *ENCRYPTED/m
const probeBytes = 32

/** Reads the key of a server from PEM. */
export function readPrivateKey(text: string): PrivateKey | { readonly flaw: PrivateKeyFlaw } {
  const pem = pemBlocks(text)
  if (!pem.ok) return { flaw: { kind: 'key-not-pem', flaw: pem.flaw } }
  const blocks = pem.blocks.filter(({ label }) => label !== parametersLabel)
  if (blocks.some((block) => block.label === encryptedLabel || encryptedHeader.test(block.text))) {
    return { flaw: { kind: 'key-encrypted' } }
  }
  const [block, ...more] = blocks
  if (block === undefined || more.length > 0 || !keyLabels.has(block.label)) {
    return { flaw: { kind: 'key-holds', labels: pem.blocks.map(({ label }) => label) } }
  }
  const privateKey = parsed(block.text)
  if (privateKey === undefined) return { flaw: { kind: 'key-unreadable' } }
  const flaw = kindFlaw(privateKey)
  if (flaw !== undefined) return { flaw }
  return {
    privateKey,
    pem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    matches: (certificate) => isPair(privateKey, certificate),
  }
}

/** The reason of a failure is dropped, because no part of a key may ever be shown. */
function parsed(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    return undefined
  }
}

/** Ed25519 is refused: no public authority may issue certificates for it, and browsers do not support it. */
function kindFlaw({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): PrivateKeyFlaw | undefined {
  if (asymmetricKeyType === 'ec') {
    const curve = asymmetricKeyDetails?.namedCurve ?? 'one without a name'
    return curves.has(curve) ? undefined : { kind: 'key-curve', curve }
  }
  if (asymmetricKeyType !== 'rsa') return { kind: 'key-type', type: asymmetricKeyType ?? 'unknown' }
  const bits = asymmetricKeyDetails?.modulusLength ?? 0
  return bits < minRsaBits || bits > maxRsaBits ? { kind: 'key-bits', bits } : undefined
}

/**
 * First the public halves are compared. But only a signature shows that the private half belongs to the
 * certificate, too.
 */
function isPair(privateKey: KeyObject, certificate: X509Certificate): boolean {
  try {
    if (!certificate.checkPrivateKey(privateKey)) return false
    const probe = randomBytes(probeBytes)
    return verify('sha256', probe, certificate.publicKey, sign('sha256', probe, privateKey))
  } catch {
    return false
  }
}
