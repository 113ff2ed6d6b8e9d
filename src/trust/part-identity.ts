import { X509Certificate } from 'node:crypto'
import type { SecureContextOptions, TLSSocket } from 'node:tls'
import { partNamed } from '../domain/part-name.ts'
import type { PartName } from '../domain/part-name.ts'

/** What a part shows to other parts, and the authority by which it knows them. All are PEM. */
export interface PartIdentity {
  readonly certificate: string
  readonly key: string
  /** The certificate of the installation's authority. */
  readonly authority: string
}

/** Parts of one installation speak nothing older with each other. */
const protocol = { minVersion: 'TLSv1.3' } as const

/** For connections to parts. Whom the server has to be, the option `servername` says. */
export function clientTls({ certificate, key, authority }: PartIdentity): SecureContextOptions {
  return { cert: certificate, key, ca: authority, ...protocol }
}

/**
 * For servers to which parts connect. Clients without a certificate are let in, too, so that a server can
 * say what is wrong, and so that a machine can join. `peerOf` tells them apart.
 */
export function serverTls({ certificate, key, authority }: PartIdentity) {
  return {
    // The authority goes with the certificate, so that a machine that joins can compare its fingerprint.
    cert: `${certificate}${authority}`,
    key,
    ca: authority,
    requestCert: true,
    rejectUnauthorized: false,
    ...protocol,
  }
}

/** The part at the other end, if the installation's authority vouches for it. */
export function peerOf(socket: TLSSocket): PartName | undefined {
  if (!socket.authorized) return undefined
  const peer = socket.getPeerX509Certificate()
  return peer === undefined ? undefined : partNamed(namesOf(peer))
}

/**
 * The part at the other end if the authority vouched for it until its certificate was over. TLS has checked
 * that it has the key. It is good for asking for the next certificate, and for nothing else.
 */
export function latePeerOf(socket: TLSSocket, authority: string): PartName | undefined {
  const shown = socket.getPeerX509Certificate()
  if (socket.authorized || shown === undefined || shown.validToDate.getTime() > Date.now()) return undefined
  const issuer = new X509Certificate(authority)
  const isIssued = shown.checkIssued(issuer) && shown.verify(issuer.publicKey)
  return isIssued ? partNamed(namesOf(shown)) : undefined
}

export function namesOf(certificate: X509Certificate): readonly string[] {
  const names = certificate.subjectAltName?.split(', ') ?? []
  return names.flatMap((name) => (name.startsWith('DNS:') ? [name.slice('DNS:'.length)] : []))
}
