import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:tls'
import type { ApiClient, Entry } from './api-client.ts'
import { makeTestChain, makeTestKey } from './certificate-maker.ts'
import { until } from './until.ts'

export type CertificateView = Entry<'getCertificates'>
export type ServiceView = Entry<'createServices'>

/** The longest wait for a requested certificate. It comes within seconds; a busy machine takes longer. */
const untilLimitMs = 40_000
/**
 * The longest wait for gateways to show a new certificate. Roost promises one second; the test of that
 * promise measures the time itself.
 */
const swapLimitMs = 10_000

export function certificateView(api: ApiClient, object: string): Promise<CertificateView> {
  return api.one('getCertificates', { object })
}

export function untilState(
  api: ApiClient,
  object: string,
  state: CertificateView['state'],
): Promise<CertificateView> {
  return until(
    `the certificate ${object} is ${state}`,
    async () => {
      const seen = await certificateView(api, object)
      return seen.state === state && seen
    },
    { limitMs: untilLimitMs },
  )
}

/** A full domain name, alone or with the name of its certificate. */
export type WantedDomain = string | { readonly fqdn: string; readonly certificate: string }

/** Creates a service on port 443 for these names, without instances. */
export function createService(
  api: ApiClient,
  name: string,
  domains: readonly WantedDomain[],
): Promise<ServiceView> {
  return api.one('createServices', { body: serviceBody(name, domains) })
}

export function serviceBody(name: string, domains: readonly WantedDomain[]) {
  return {
    name,
    services: [{ port: 443, destination_port: 8_080, handlers: ['http', 'tls'] }],
    domains: domains.map((domain) =>
      typeof domain === 'string'
        ? { name: `${domain}.` }
        : { name: `${domain.fqdn}.`, certificate: { name: domain.certificate } },
    ),
  }
}

export interface Shown {
  readonly serial: string
  /** Whether the chain leads to a root in `ca` and fits the name. */
  readonly isTrusted: boolean
  readonly chain: readonly string[]
}

/** The certificate that a gateway shows for the name. Undefined if it refuses the handshake. */
export async function shownFor(
  host: string,
  { address, ca }: { readonly address: string; readonly ca?: string },
): Promise<Shown | undefined> {
  const socket = connect({
    host: address,
    port: 443,
    servername: host,
    rejectUnauthorized: false,
    ...(ca !== undefined && { ca }),
  })
  try {
    await once(socket, 'secureConnect')
    const own = socket.getPeerX509Certificate()
    if (own === undefined) throw new Error(`${host} shows no certificate`)
    return { serial: own.serialNumber, isTrusted: socket.authorized, chain: subjectsOf(own) }
  } catch (error) {
    if (isRefusal(error)) return undefined
    throw error
  } finally {
    socket.destroy()
  }
}

/** Waits until gateways show the certificate. They get it a moment after the API shows it to its owner. */
export function untilShown(
  host: string,
  where: { readonly address: string; readonly ca: string },
  serial: string | undefined,
): Promise<Shown> {
  return until(
    `${host} shows ${serial}`,
    async () => {
      const shown = await shownFor(host, where)
      return shown?.serial === serial && shown?.isTrusted === true && shown
    },
    { limitMs: swapLimitMs },
  )
}

function subjectsOf(certificate: X509Certificate): readonly string[] {
  const subjects: string[] = []
  for (let at: X509Certificate | undefined = certificate; at !== undefined; at = at.issuerCertificate) {
    if (subjects.includes(at.subject)) break
    subjects.push(at.subject)
  }
  return subjects
}

/**
 * Whether the error means that the gateway took the connection and then ended the handshake. It may do so
 * with a TLS alert or without one.
 */
function isRefusal(error: unknown): boolean {
  const { code = '' } = error as { readonly code?: string }
  return code === 'ECONNRESET' || code.startsWith('ERR_SSL')
}

/** A certificate that a user has from an authority of their own. */
export interface Brought {
  /** The certificate and the authority between it and the root, PEM. */
  readonly chain: string
  /** The key in PKCS #1 or SEC 1, the older forms of PEM that OpenSSL wrote for decades. */
  readonly key: string
  readonly root: string
  readonly serial: string
}

export async function bring(kind: 'rsa' | 'ec', names: readonly string[]): Promise<Brought> {
  const key = makeTestKey(kind === 'rsa' ? 'rsa2048' : 'p384')
  const { leaf, between, root } = await makeTestChain(names, { key })
  return {
    chain: leaf.pem + between.pem,
    key: key.export({ format: 'pem', type: kind === 'rsa' ? 'pkcs1' : 'sec1' }).toString(),
    root: root.pem,
    serial: new X509Certificate(leaf.pem).serialNumber,
  }
}
