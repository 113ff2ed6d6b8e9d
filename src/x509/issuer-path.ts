import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'

/** From a certificate upwards, each issued by the one behind it. */
export interface IssuerPath {
  /** The root is left out: who trusts it has it. */
  readonly certificates: readonly X509Certificate[]
  /** It leads to a root that was among the certificates, or to one of the public authorities'. */
  readonly isComplete: boolean
}

/**
 * Finds the way from `leaf` through the others, in whatever order these are; every link is checked by its
 * signature. Where one has several issuers, as with cross-signed roots, the first one that is valid now is
 * taken.
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
    // Above what browsers know an expired issuer serves nobody; elsewhere the owner has to hear of it.
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
    // A key of a kind that OpenSSL does not know has issued nothing that can be checked.
    return false
  }
}

export function isValidAt({ validFromDate, validToDate }: X509Certificate, nowMs: number): boolean {
  return validFromDate.getTime() <= nowMs && nowMs < validToDate.getTime()
}

let knownRoots: ReadonlyMap<string, readonly X509Certificate[]> | undefined

/** Issued by an authority that Mozilla's list, which Node brings along, has. */
function isKnown(certificate: X509Certificate): boolean {
  knownRoots ??= Map.groupBy(
    rootCertificates.map((pem) => new X509Certificate(pem)),
    ({ subject }) => subject,
  )
  return (knownRoots.get(certificate.issuer) ?? []).some((root) => isIssuedBy(certificate, root))
}
