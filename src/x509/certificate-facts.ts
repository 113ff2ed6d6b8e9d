import { X509Certificate } from 'node:crypto'

/** What of a certificate's content its owner is shown. */
export interface CertificateFacts {
  /**
   * As in RFC 4514, such as `CN=R11,O=Let's Encrypt,C=US`; empty where the names stand beside the subject
   * alone.
   */
  readonly subject: string
  readonly issuer: string
  /** Hexadecimal, upper case. */
  readonly serialNumber: string
  readonly notBefore: Date
  readonly notAfter: Date
}

/** A subject can be as large as its certificate, and is shown in lists. */
const maxNameLength = 1_024

/** Of the first certificate of a chain in PEM. Throws where it is none. */
export function certificateFacts(chain: string): CertificateFacts {
  return factsOf(new X509Certificate(chain))
}

export function factsOf(certificate: X509Certificate): CertificateFacts {
  return {
    subject: nameText(certificate.subject),
    issuer: nameText(certificate.issuer),
    serialNumber: certificate.serialNumber.toUpperCase(),
    notBefore: certificate.validFromDate,
    notAfter: certificate.validToDate,
  }
}

/**
 * Node has a line for each part, the widest first; special characters are escaped already. Undefined where
 * there is none.
 */
export function nameText(lines: string | undefined): string {
  const text = (lines ?? '').split('\n').toReversed().join(',')
  return text.length <= maxNameLength ? text : `${text.slice(0, maxNameLength - 1)}…`
}
