import { X509Certificate } from 'node:crypto'

/** The parts of a certificate's content that its owner is shown. */
export interface CertificateFacts {
  /**
   * The subject in the form of RFC 4514, such as `CN=R11,O=Let's Encrypt,C=US`. It is empty if the
   * certificate has only alternative names.
   */
  readonly subject: string
  readonly issuer: string
  /** The serial number in hexadecimal, upper case. */
  readonly serialNumber: string
  readonly notBefore: Date
  readonly notAfter: Date
}

/**
 * The most characters of a name that are kept. A subject can be as large as its certificate, and is shown in
 * lists.
 */
const maxNameLength = 1_024

/** Returns the facts of the first certificate of a chain in PEM. Throws if the text is not a certificate. */
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
 * The text of a name. Node gives one line for each part, the widest part first, with special characters
 * already escaped. It gives undefined if the certificate has no name.
 */
export function nameText(lines: string | undefined): string {
  const text = (lines ?? '').split('\n').toReversed().join(',')
  return text.length <= maxNameLength ? text : `${text.slice(0, maxNameLength - 1)}…`
}
