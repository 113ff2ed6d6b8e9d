/** What the gateway does with what arrives at a published port. */
export const Handler = {
  /** TLS ends at the gateway. */
  Tls: 'tls',
  /** Balanced by HTTP request; without it, by connection. */
  Http: 'http',
  /** Answered with the address of the same page on the destination port. */
  Redirect: 'redirect',
} as const
export type Handler = (typeof Handler)[keyof typeof Handler]

export interface PublishedPort {
  readonly port: number
  readonly destinationPort: number
  /** In the order of the vocabulary, each at most once. */
  readonly handlers: readonly Handler[]
}

export const CertificateState = { Pending: 'pending', Valid: 'valid', Error: 'error' } as const
export type CertificateState = (typeof CertificateState)[keyof typeof CertificateState]

/**
 * Who looks after a certificate: its owner, who brought it, or the platform, which gets it from an authority
 * and renews it.
 */
export const CertificateOrigin = { Uploaded: 'uploaded', Requested: 'requested' } as const
export type CertificateOrigin = (typeof CertificateOrigin)[keyof typeof CertificateOrigin]

export const defaultSoftLimit = 1
export const defaultHardLimit = 65_535
