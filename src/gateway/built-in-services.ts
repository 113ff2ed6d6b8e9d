import { PublicProtocol } from '../domain/host/gateway-role.ts'
import type { RouteService } from '../domain/service/route-feed.ts'
import { Handler } from '../domain/service/handler.ts'
import { apiName, consoleName, registryName } from '../domain/service/public-address.ts'
import type { SecureUpstream } from './http/upstream/upstream-address.ts'
import type { Admission, Traffic } from './traffic.ts'

/** A part of the platform under its public names: a service that runs on no host and never sleeps. */
export interface BuiltInService {
  readonly service: RouteService
  readonly host: string
  readonly port: number
  /** Encrypts the connections to it. Absent: it is on this machine. */
  readonly secure?: SecureUpstream
}

/** The way from a machine that joined to the parts of the platform, which are elsewhere. */
export interface BuiltInElsewhere {
  readonly host: string
  readonly port: number
  /** Encrypts connections that say with ALPN what they are for. */
  secure(protocol: PublicProtocol): SecureUpstream
}

const httpPort = 80
const httpsPort = 443
/**
 * The limits of a built-in service, so high that they bound nothing: the parts bound their own connections
 * and requests.
 */
const unlimited = 65_535

/** The services that this gateway has beside those of users. */
export function builtInServices(options: {
  readonly apiUrl: string
  readonly metroDomain: string
  readonly registryBounded: boolean
  readonly registryOwnerPort: number
  /** Present on a machine that joined. */
  readonly elsewhere?: BuiltInElsewhere | undefined
}): readonly BuiltInService[] {
  const { metroDomain, registryBounded, registryOwnerPort, elsewhere } = options
  const api = new URL(options.apiUrl)
  const services: BuiltInService[] = []
  const names = {
    api: [apiName(metroDomain), consoleName(metroDomain)],
    registry: [registryName(metroDomain)],
  }
  if (elsewhere !== undefined) {
    const { host, port } = elsewhere
    const through = (protocol: PublicProtocol) => ({ host, port, secure: elsewhere.secure(protocol) })
    services.push({ ...through(PublicProtocol.Api), service: service('api', names.api) })
    if (registryBounded)
      services.push({ ...through(PublicProtocol.Registry), service: service('registry', names.registry) })
    return services
  }
  // An API that speaks TLS itself has a public name already, and this gateway would only add a step.
  if (api.protocol === 'http:') {
    const host = api.hostname.replace(/^\[|\]$/g, '')
    const port = api.port === '' ? httpPort : Number(api.port)
    services.push({ host, port, service: service('api', names.api) })
  }
  if (registryBounded) {
    const reached = { host: '127.0.0.1', port: registryOwnerPort }
    services.push({ ...reached, service: service('registry', names.registry) })
  }
  return services
}

function service(name: string, fqdns: readonly string[]): RouteService {
  return {
    uuid: `built-in/${name}`,
    name,
    domains: fqdns.map((fqdn) => ({ fqdn })),
    ports: [
      { port: httpsPort, destinationPort: httpsPort, handlers: [Handler.Tls, Handler.Http] },
      { port: httpPort, destinationPort: httpsPort, handlers: [Handler.Http, Handler.Redirect] },
    ],
    softLimit: unlimited,
    hardLimit: unlimited,
  }
}

/** Admits requests for built-in services at once, without a lease. All others are passed to `traffic`. */
export function admittingBuiltIn(traffic: Traffic, services: readonly BuiltInService[]): Traffic {
  const admissions = new Map(services.map((each) => [each.service.uuid, admissionTo(each)]))
  return { admit: (ask) => admissions.get(ask.service.uuid) ?? traffic.admit(ask) }
}

function admissionTo({ service, host, port, secure }: BuiltInService): Admission {
  return {
    admitted: true,
    instanceUuid: service.uuid,
    boot: 0,
    host,
    port,
    ...(secure && { secure }),
    fresh: false,
    slept: false,
    timing: { queuedUs: 0 },
    done: () => undefined,
    onEnd: () => () => undefined,
    touch: () => undefined,
    awaken: () => undefined,
  }
}
