import { X509Certificate } from 'node:crypto'
import { connect as connectTls } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { Agent, request } from 'undici'
import { hostAndPort } from '../domain/host-and-port.ts'
import { certifiedRoles, isHostRole } from '../domain/host/role.ts'
import type { CertifiedRole, HostRole } from '../domain/host/role.ts'
import { kindName } from '../domain/part-name.ts'
import { PlatformPart } from '../domain/platform-part.ts'
import { toldProtocol, wires } from '../domain/protocols.ts'
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
  readonly roles: readonly HostRole[]
  /** The certificates of the parts that roles add. */
  readonly roleCertificates: readonly (readonly [CertifiedRole, string])[]
  readonly authority: string
  readonly temporalNamespace: string
  /** The address of this machine from which it reached the control plane. */
  readonly ownAddress: string
}

/** An installation that has proved that it is the one of the token. */
export interface MetInstallation extends Pick<Joined, 'authority' | 'ownAddress'> {
  readonly place: HostsPlace
  /** What time it is there. NaN if it does not tell. */
  readonly timeMs: number
}

/** The public keys of a machine that joins, in PEM: its agent's, and those of all parts that it may get. */
export interface PublicKeys {
  readonly publicKey: string
  readonly rolePublicKeys: Readonly<Partial<Record<CertifiedRole, string>>>
}

const limitMs = 10_000
const servername = kindName(PlatformPart.Api)
const clockErrors = new Set<unknown>(['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED'])

/**
 * Connects to the installation at this address, and has it prove that it belongs to the authority with the
 * token's fingerprint. It gets no secret: the invitation stays as it was. Throws `JoinFailure`.
 */
export async function meetInstallation(
  place: HostsPlace,
  { fingerprint }: Pick<JoinToken, 'fingerprint'>,
): Promise<MetInstallation> {
  const { authority, ownAddress } = await seeAuthority(place, fingerprint)
  return await converse({ place, authority }, async (dispatcher) => {
    const answer = await request(joinUrl(place), {
      dispatcher,
      headers: { host: servername },
      signal: AbortSignal.timeout(limitMs),
    })
    await answer.body.dump()
    return { place, authority, ownAddress, timeMs: Date.parse(String(answer.headers.date)) }
  })
}

/**
 * Joins the installation. The secret is sent only to a server that the authority vouches for. Throws
 * `JoinFailure`.
 */
export async function joinInstallation(
  met: Pick<MetInstallation, 'place' | 'authority' | 'ownAddress'>,
  { secret }: Pick<JoinToken, 'secret'>,
  keys: PublicKeys,
): Promise<Joined> {
  return await converse(met, async (dispatcher) => {
    const answer = await request(joinUrl(met.place), {
      dispatcher,
      method: 'POST',
      headers: { host: servername, 'content-type': 'application/json', ...toldProtocol(wires.join) },
      body: JSON.stringify({ secret, ...keys }),
      signal: AbortSignal.timeout(limitMs),
    })
    const body = (await answer.body.json()) as JoinAnswer
    if (answer.statusCode !== 200) throw new JoinFailure(String(body.message))
    const { authority, ownAddress } = met
    return { ...readJoinAnswer(body), authority, ownAddress }
  })
}

/** Throws `JoinFailure` if this machine can not be what it was invited as. */
export function readJoinAnswer(answer: JoinAnswer): Omit<Joined, 'authority' | 'ownAddress'> {
  const { hostId = '', certificate = '', temporalNamespace = '', roles = [], roleCertificates } = answer
  for (const role of roles) if (!isHostRole(role)) throw new JoinFailure(unknownRole(role))
  return {
    hostId,
    roles: roles.filter(isHostRole),
    certificate,
    roleCertificates: certifiedRoles.flatMap((role) => {
      const one = roleCertificates?.[role]
      return one === undefined ? [] : [[role, one] as const]
    }),
    temporalNamespace,
  }
}

function joinUrl(place: HostsPlace): string {
  return `https://${hostAndPort(place)}/join`
}

/** Lets `talk` send requests to the server at this address, if the authority vouches for it. */
async function converse<T>(
  { place, authority }: Pick<MetInstallation, 'place' | 'authority'>,
  talk: (dispatcher: Agent) => Promise<T>,
): Promise<T> {
  const dispatcher = new Agent({
    connect: { ca: authority, servername, minVersion: 'TLSv1.3', timeout: limitMs },
    allowH2: false,
  })
  try {
    return await talk(dispatcher)
  } catch (cause) {
    if (cause instanceof JoinFailure) throw cause
    const { message, code } = cause as NodeJS.ErrnoException
    throw new JoinFailure(
      clockErrors.has(code)
        ? wrongClock(place)
        : `${hostAndPort(place)} broke off the join (${message}): try again`,
      { cause },
    )
  } finally {
    await dispatcher.destroy()
  }
}

export interface JoinAnswer {
  readonly message?: string
  readonly hostId?: string
  readonly certificate?: string
  readonly roles?: readonly string[]
  readonly roleCertificates?: Readonly<Partial<Record<string, string>>>
  readonly temporalNamespace?: string
}

function wrongClock(place: HostsPlace): string {
  return (
    `this machine's clock says ${new Date().toISOString()}, and the certificate of ${hostAndPort(place)} is not valid then: ` +
    'set the clocks of both machines by a time server, such as with chrony'
  )
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
