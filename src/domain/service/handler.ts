/** What the gateway does with the traffic of a published port. */
export const Handler = {
  /** TLS ends at the gateway. */
  Tls: 'tls',
  /** Traffic is balanced by HTTP request; without this handler, by connection. */
  Http: 'http',
  /** A request is answered with a redirect to the same page on the destination port. */
  Redirect: 'redirect',
} as const
export type Handler = (typeof Handler)[keyof typeof Handler]

export interface PublishedPort {
  readonly port: number
  readonly destinationPort: number
  /** In the order of the vocabulary, without repeats. */
  readonly handlers: readonly Handler[]
}

export const CertificateState = { Pending: 'pending', Valid: 'valid', Error: 'error' } as const
export type CertificateState = (typeof CertificateState)[keyof typeof CertificateState]

/**
 * Who looks after a certificate: the owner who uploaded it, or the platform, which gets it from an authority
 * and renews it.
 */
export const CertificateOrigin = { Uploaded: 'uploaded', Requested: 'requested' } as const
export type CertificateOrigin = (typeof CertificateOrigin)[keyof typeof CertificateOrigin]

export const defaultSoftLimit = 1
export const defaultHardLimit = 65_535
