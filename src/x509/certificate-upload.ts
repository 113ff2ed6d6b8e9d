import { X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { factsOf, nameText } from './certificate-facts.ts'
import type { CertificateFacts } from './certificate-facts.ts'
import { isIssuedBy, issuerPath, isValidAt } from './issuer-path.ts'
import type { IssuerPath } from './issuer-path.ts'
import { maySignHandshakes } from './key-usage.ts'
import { pemBlocks } from './pem-block.ts'
import { readPrivateKey } from './private-key.ts'
import type { PrivateKeyFlaw } from './private-key.ts'

/**
 * The most certificates of one uploaded chain. The root and certificates that do not belong to the chain
 * count too. Real chains have two or three, bundles of an authority some more.
 */
export const maxChainCertificates = 10

/**
 * Why an upload can not be a server's certificate. It repeats no text of the upload except names of
 * certificates.
 */
export type UploadFlaw =
  | PrivateKeyFlaw
  | { readonly kind: 'chain-not-pem'; readonly flaw: 'no-pem' | 'unfinished' | 'escaped-lines' }
  /** The text holds something other than certificates. */
  | { readonly kind: 'chain-holds'; readonly label: string }
  | { readonly kind: 'too-many'; readonly count: number }
  /** The certificate with this number can not be read. `number` counts from 1. */
  | { readonly kind: 'unreadable'; readonly number: number }
  /** The key belongs to another certificate. `subject` is that of the first certificate of the chain. */
  | { readonly kind: 'other-key'; readonly subject: string }
  /**
   * The certificate is an authority's. Such a certificate is accepted only if it signed itself and is used
   * alone as the server's.
   */
  | { readonly kind: 'authority'; readonly subject: string }
  | { readonly kind: 'not-for-servers'; readonly subject: string }
  /** The certificate is for other names than the wanted one. */
  | { readonly kind: 'other-name'; readonly names: readonly string[]; readonly more: number }
  | { readonly kind: 'expired'; readonly subject: string; readonly at: Date }
  | { readonly kind: 'not-yet-valid'; readonly subject: string; readonly at: Date }
  /**
   * A certificate of the chain is missing, between two others or at its upper end. `url` is the address that
   * the last certificate gives for its issuer's certificate.
   */
  | {
      readonly kind: 'issuer-missing'
      readonly subject: string
      readonly issuer: string
      readonly url: string | undefined
    }
  /**
   * A signature with a weak hash is also valid for any other certificate with the same hash, which an
   * attacker may find. So browsers refuse it.
   */
  | { readonly kind: 'weak-signature'; readonly subject: string; readonly algorithm: string }
  /** OpenSSL does not accept the chain and the key for TLS. `reason` is OpenSSL's text. */
  | { readonly kind: 'unusable'; readonly reason: string }

export interface CertificateUpload {
  /** The domain in lower case, without a final dot. */
  readonly commonName: string
  readonly chain: string
  readonly pkey: string
  readonly nowMs: number
  /**
   * Returns known chains, in PEM, of certificates of that issuer (named as in `CertificateFacts`). They may
   * have the certificates that an upload leaves out.
   */
  readonly chainsOf: (issuer: string) => Promise<readonly string[]>
}

export type UploadOutcome =
  | { readonly ok: false; readonly flaw: UploadFlaw }
  | {
      readonly ok: true
      /** The chain in PEM, from the certificate itself to the last one below the root. */
      readonly chain: string
      /** The private key in PEM. */
      readonly keyPem: string
      readonly facts: CertificateFacts
    }

const serverUse = '1.3.6.1.5.5.7.3.1'
const anyUse = '2.5.29.37.0'
/**
 * Matches the weak hashes in OpenSSL's names of signatures, such as `sha1WithRSAEncryption` and
 * `ecdsa-with-SHA1`.
 */
const weakHash = /sha-?1(?!\d)|md[245]/i
/**
 * The most names of a certificate that are shown. They are enough to tell the owner which certificate it is.
 */
const shownNames = 5
const maxShownUrl = 256

/**
 * Reads what somebody wants to serve a domain with, and refuses what browsers would refuse. The order of the
 * certificates does not matter. The root is left out, and so are certificates that do not lead to a root, if
 * there is a way to a root without them.
 */
export async function readCertificateUpload(upload: CertificateUpload): Promise<UploadOutcome> {
  const { nowMs } = upload
  const given = readChain(upload.chain)
  if ('flaw' in given) return refused(given.flaw)
  const key = readPrivateKey(upload.pkey)
  if ('flaw' in key) return refused(key.flaw)
  // Several certificates may have the same key: a renewal may keep it, and its file may also hold the
  // certificate before.
  const own = given.certificates.filter((one) => key.matches(one))
  const flaws = await Promise.all(own.map((one) => leafFlaw(one, given.certificates, upload)))
  const leaf = own[Math.max(0, flaws.indexOf(undefined))]
  if (leaf === undefined) {
    return refused({ kind: 'other-key', subject: nameText(given.certificates[0]!.subject) })
  }
  if (!flaws.includes(undefined)) return refused(flaws[0]!)
  const path = await completePath(leaf, given.certificates, upload)
  if ('flaw' in path) return refused(path.flaw)
  const { certificates } = path
  const invalid = certificates.find((one) => !isValidAt(one, nowMs))
  if (invalid !== undefined) return refused(validityFlaw(invalid, nowMs))
  const weak = certificates.find((one) => weakHash.test(signatureOf(one)))
  if (weak !== undefined) {
    return refused({
      kind: 'weak-signature',
      subject: nameText(weak.subject),
      algorithm: signatureOf(weak),
    })
  }
  const chain = certificates.map((one) => one.toString()).join('')
  const reason = tlsRefusal(chain, key.privateKey)
  if (reason !== undefined) return refused({ kind: 'unusable', reason })
  return { ok: true, chain, keyPem: key.pem, facts: factsOf(leaf) }
}

function refused(flaw: UploadFlaw): UploadOutcome {
  return { ok: false, flaw }
}

type Flawed = { readonly flaw: UploadFlaw }

function readChain(text: string): { readonly certificates: readonly X509Certificate[] } | Flawed {
  const pem = pemBlocks(text)
  if (!pem.ok) return { flaw: { kind: 'chain-not-pem', flaw: pem.flaw } }
  const other = pem.blocks.find(({ label }) => label !== 'CERTIFICATE' && label !== 'X509 CERTIFICATE')
  if (other !== undefined) return { flaw: { kind: 'chain-holds', label: other.label } }
  const count = pem.blocks.length
  if (count > maxChainCertificates) return { flaw: { kind: 'too-many', count } }
  const certificates: X509Certificate[] = []
  for (const [index, block] of pem.blocks.entries()) {
    const certificate = readCertificate(block.text)
    if (certificate === undefined) return { flaw: { kind: 'unreadable', number: index + 1 } }
    if (!isAmong(certificates, certificate)) certificates.push(certificate)
  }
  return { certificates }
}

function readCertificate(pem: string): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(pem)
    // The public key is read now. So a key that OpenSSL can not read is noticed here, and not later while a
    // chain is made.
    return certificate.publicKey && certificate
  } catch {
    return undefined
  }
}

async function leafFlaw(
  leaf: X509Certificate,
  given: readonly X509Certificate[],
  { commonName, nowMs }: CertificateUpload,
): Promise<UploadFlaw | undefined> {
  const subject = nameText(leaf.subject)
  if (leaf.ca && !(await servesAlone(leaf, given))) return { kind: 'authority', subject }
  const uses = leaf.keyUsage as readonly string[] | undefined
  if (uses !== undefined && !uses.includes(serverUse) && !uses.includes(anyUse)) {
    return { kind: 'not-for-servers', subject }
  }
  if (!covers(leaf, commonName)) {
    const names = namesOf(leaf)
    return {
      kind: 'other-name',
      names: names.slice(0, shownNames),
      more: Math.max(0, names.length - shownNames),
    }
  }
  return isValidAt(leaf, nowMs) ? undefined : validityFlaw(leaf, nowMs)
}

/**
 * Whether an authority's certificate is used as a server's. `openssl req -x509` makes such a certificate by
 * default, and people use it for servers. It signed itself, issued none of the others and may sign
 * handshakes. Clients that trust it accept it as the server's. If its renewal with the same key is in the
 * upload, that seems to be issued by it, but it has signed itself, too.
 */
async function servesAlone(leaf: X509Certificate, given: readonly X509Certificate[]): Promise<boolean> {
  if (!isIssuedBy(leaf, leaf)) return false
  if (given.some((other) => !isIssuedBy(other, other) && isIssuedBy(other, leaf))) return false
  return maySignHandshakes(leaf)
}

/**
 * The subject's common name counts only if there are no other names, as it did before these were invented.
 */
function covers(leaf: X509Certificate, name: string): boolean {
  return leaf.checkHost(name, { subject: 'default', wildcards: true, partialWildcards: false }) !== undefined
}

function namesOf({ subject, subjectAltName }: X509Certificate): readonly string[] {
  const alternatives = (subjectAltName ?? '').split(', ').filter((name) => name.startsWith('DNS:'))
  if (alternatives.length > 0) return alternatives.map((name) => name.slice('DNS:'.length))
  return (subject ?? '')
    .split('\n')
    .filter((part) => part.startsWith('CN='))
    .map((part) => part.slice('CN='.length))
}

function signatureOf({ signatureAlgorithm }: X509Certificate): string {
  return signatureAlgorithm ?? 'unknown'
}

function validityFlaw(certificate: X509Certificate, nowMs: number): UploadFlaw {
  const subject = nameText(certificate.subject)
  const { validFromDate, validToDate } = certificate
  return validToDate.getTime() <= nowMs
    ? { kind: 'expired', subject, at: validToDate }
    : { kind: 'not-yet-valid', subject, at: validFromDate }
}

/**
 * Completes the path to a root. If a chain ends below an unknown root, it either belongs to a private
 * authority or lacks its upper part. It lacks its upper part if the last certificate says where its issuer's
 * certificate can be downloaded, as public authorities do, or if some certificates fit nowhere.
 */
async function completePath(
  leaf: X509Certificate,
  given: readonly X509Certificate[],
  { nowMs, chainsOf }: CertificateUpload,
): Promise<IssuerPath | Flawed> {
  const path = issuerPath(leaf, given, nowMs)
  if (path.isComplete) return path
  const known = (await chainsOf(nameText(leaf.issuer))).flatMap((chain) => {
    const read = readChain(chain)
    return 'flaw' in read ? [] : read.certificates
  })
  const completed = issuerPath(leaf, [...given, ...known], nowMs)
  // A chain may end where an accepted chain ended, because roots are not stored.
  if (completed.isComplete || isAmong(known, completed.certificates.at(-1)!)) return completed
  const last = path.certificates.at(-1)!
  const url = issuerUrl(last)
  const isWhole = path.certificates.length === given.length
  if (url === undefined && isWhole) return path
  const [subject, issuer] = [nameText(last.subject), nameText(last.issuer)]
  return { flaw: { kind: 'issuer-missing', subject, issuer, url } }
}

function isAmong(certificates: readonly X509Certificate[], wanted: X509Certificate): boolean {
  return certificates.some(({ fingerprint256 }) => fingerprint256 === wanted.fingerprint256)
}

function issuerUrl({ infoAccess }: X509Certificate): string | undefined {
  const url = /^CA Issuers - URI:"?(http[^"\s]*)/m.exec(infoAccess ?? '')?.[1]
  return url?.slice(0, maxShownUrl)
}

/**
 * Tries what a gateway will do with the chain. OpenSSL knows best what else could be wrong, such as the key
 * of an issuer.
 */
function tlsRefusal(chain: string, key: KeyObject): string | undefined {
  try {
    createSecureContext({ cert: chain, key: key.export({ format: 'pem', type: 'pkcs8' }) })
    return undefined
  } catch (error) {
    const { reason } = error as { readonly reason?: string }
    return reason ?? 'OpenSSL does not take it'
  }
}
