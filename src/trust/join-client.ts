import { X509Certificate } from 'node:crypto'
import { connect as connectTls } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { Agent, request } from 'undici'
import { hostAndPort } from '../domain/host-and-port.ts'
import { isHostRole } from '../domain/host/role.ts'
import type { HostRole } from '../domain/host/role.ts'
import { kindName } from '../domain/part-name.ts'
import { PlatformPart } from '../domain/platform-part.ts'
import type { JoinToken } from './join-token.ts'
import { fingerprintOf } from './part-authority.ts'

/** Why a machine could not join, in a sentence for the person at the terminal. */
export class JoinFailure extends Error {
  override readonly name = 'JoinFailure'
}

export interface HostsPlace {
  readonly host: string
  readonly port: number
}

export interface Joined {
  readonly hostId: string
  readonly certificate: string
  /** The roles of this machine, and the certificate of the part that each of them adds. */
  readonly roleCertificates: readonly (readonly [HostRole, string])[]
  readonly authority: string
  readonly temporalNamespace: string
  /** The address of this machine from which it reached the control plane. */
  readonly ownAddress: string
}

const limitMs = 10_000
const servername = kindName(PlatformPart.Api)

/**
 * Joins the installation at this address. The secret is sent only after the server has proved that it belongs
 * to the authority with the token's fingerprint. Throws `JoinFailure`.
 */
export async function joinInstallation(
  place: HostsPlace,
  { secret, fingerprint }: JoinToken,
  publicKey: string,
): Promise<Joined> {
  const { authority, ownAddress } = await seeAuthority(place, fingerprint)
  const dispatcher = new Agent({
    connect: { ca: authority, servername, minVersion: 'TLSv1.3', timeout: limitMs },
    allowH2: false,
  })
  try {
    const answer = await request(`https://${hostAndPort(place)}/join`, {
      dispatcher,
      method: 'POST',
      headers: { host: servername, 'content-type': 'application/json' },
      body: JSON.stringify({ secret, publicKey }),
      signal: AbortSignal.timeout(limitMs),
    })
    const body = (await answer.body.json()) as JoinAnswer
    if (answer.statusCode !== 200) throw new JoinFailure(String(body.message))
    const { hostId = '', certificate = '', temporalNamespace = '' } = body
    const roleCertificates = Object.entries(body.roleCertificates ?? {}).map(([role, one]) => {
      if (!isHostRole(role)) throw new JoinFailure(unknownRole(role))
      return [role, one] as const
    })
    return { hostId, certificate, roleCertificates, temporalNamespace, authority, ownAddress }
  } catch (cause) {
    if (cause instanceof JoinFailure) throw cause
    throw new JoinFailure(
      `${hostAndPort(place)} broke off the join (${(cause as Error).message}): try again`,
      {
        cause,
      },
    )
  } finally {
    await dispatcher.destroy()
  }
}

interface JoinAnswer {
  readonly message?: string
  readonly hostId?: string
  readonly certificate?: string
  readonly roleCertificates?: Readonly<Record<string, string>>
  readonly temporalNamespace?: string
}

function unknownRole(role: string): string {
  return `this machine is invited with the role '${role}', which its version of Roost does not have: install the version of the control plane`
}

/** Returns the authority that the server shows, if it has the fingerprint. */
async function seeAuthority(place: HostsPlace, fingerprint: Buffer) {
  const socket = await connected(place)
  const ownAddress = (socket.localAddress ?? '').replace(/^::ffff:/, '')
  try {
    const shown = socket.getPeerX509Certificate()?.issuerCertificate
    const authority = shown instanceof X509Certificate ? shown.toString() : undefined
    if (authority === undefined || !fingerprintOf(authority).equals(fingerprint)) {
      throw new JoinFailure(
        `the server at ${hostAndPort(place)} belongs to another installation than the token: copy address and token from one \`roost host invite\``,
      )
    }
    return { authority, ownAddress }
  } finally {
    socket.destroy()
  }
}

async function connected({ host, port }: HostsPlace): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  // The certificate is checked by its fingerprint, because this machine does not know the authority yet.
  const socket = connectTls({ host, port, servername, minVersion: 'TLSv1.3', rejectUnauthorized: false })
  socket.setTimeout(limitMs, () => socket.destroy(new Error(`no answer within ${limitMs / 1_000} s`)))
  socket.once('secureConnect', () => resolve(socket))
  socket.on('error', (cause) => reject(new JoinFailure(unreachable({ host, port }, cause), { cause })))
  return await promise
}

function unreachable(place: HostsPlace, { message }: Error): string {
  return (
    `${hostAndPort(place)} can not be reached (${message}): check that the control plane runs, that ROOST_HOSTS_ADDRESS ` +
    'is set there, and that no firewall is between the machines'
  )
}
