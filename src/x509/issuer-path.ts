import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'

/** The path from a certificate upwards. Each certificate is issued by the one after it. */
export interface IssuerPath {
  /** The certificates of the path without the root: clients that trust the root have it. */
  readonly certificates: readonly X509Certificate[]
  /**
   * True if the path leads to a root that was among the certificates, or to one of the public authorities.
   */
  readonly isComplete: boolean
}

/**
 * Finds the path from `leaf` through the others, in whatever order they are. Every link is checked by its
 * signature. If a certificate has several issuers, as with cross-signed roots, the first one that is valid
 * now is taken.
 */
export function issuerPath(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
  nowMs: number,
): IssuerPath {
  const path = [leaf]
  for (;;) {
    const last = path.at(-1)!
    if (isIssuedBy(last, last)) {
      return { certificates: path.length === 1 ? path : path.slice(0, -1), isComplete: true }
    }
    const issuers = others.filter((other) => other.ca && !path.includes(other) && isIssuedBy(last, other))
    const valid = issuers.find((issuer) => isValidAt(issuer, nowMs))
    // If the issuer of the last certificate is an authority that browsers know, no expired issuer is added
    // to the path. Otherwise it is added, so that the owner hears that it has expired.
    const next = valid ?? (isKnown(last) ? undefined : issuers[0])
    if (next === undefined) return { certificates: path, isComplete: path.some(isKnown) }
    path.push(next)
  }
}

export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  if (!certificate.checkIssued(issuer)) return false
  try {
    return certificate.verify(issuer.publicKey)
  } catch {
    // The issuer's key is of a kind that OpenSSL does not know. Its signature can not be checked, so it
    // counts as not the issuer.
    return false
  }
}

export function isValidAt({ validFromDate, validToDate }: X509Certificate, nowMs: number): boolean {
  return validFromDate.getTime() <= nowMs && nowMs < validToDate.getTime()
}

let knownRoots: ReadonlyMap<string, readonly X509Certificate[]> | undefined

/** Whether the certificate's issuer is in Mozilla's list of authorities, which is part of Node. */
function isKnown(certificate: X509Certificate): boolean {
  knownRoots ??= Map.groupBy(
    rootCertificates.map((pem) => new X509Certificate(pem)),
    ({ subject }) => subject,
  )
  return (knownRoots.get(certificate.issuer) ?? []).some((root) => isIssuedBy(certificate, root))
}
