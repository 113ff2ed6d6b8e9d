import type { RouteService } from '../domain/service/route-feed.ts'
import { Handler } from '../domain/service/handler.ts'
import type { Admission, Traffic } from './traffic.ts'

/** The API under its public name: a service that is always there, runs on no host and never sleeps. */
export interface BuiltInApi {
  readonly service: RouteService
  readonly host: string
  readonly port: number
}

const httpPort = 80
const httpsPort = 443
const apiUuid = 'built-in/api'
/**
 * The limits of the API's service, so high that they bound nothing: the API bounds its own connections and
 * requests.
 */
const unlimited = 65_535

/**
 * Makes the built-in service. Returns undefined if the API itself speaks TLS: it has a public name already
 * then, and this gateway would only add a step.
 */
export function builtInApi(options: {
  readonly apiUrl: string
  readonly metroDomain: string
}): BuiltInApi | undefined {
  const url = new URL(options.apiUrl)
  if (url.protocol !== 'http:') return undefined
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? httpPort : Number(url.port),
    service: {
      uuid: apiUuid,
      name: 'api',
      domains: [{ fqdn: `api.${options.metroDomain}` }],
      ports: [
        { port: httpsPort, destinationPort: httpsPort, handlers: [Handler.Tls, Handler.Http] },
        { port: httpPort, destinationPort: httpsPort, handlers: [Handler.Http, Handler.Redirect] },
      ],
      softLimit: unlimited,
      hardLimit: unlimited,
    },
  }
}

/** Admits requests for the API at once, without a lease. All other requests are passed to `traffic`. */
export function admittingApi(traffic: Traffic, api: BuiltInApi): Traffic {
  const admission: Admission = {
    admitted: true,
    instanceUuid: api.service.uuid,
    boot: 0,
    host: api.host,
    port: api.port,
    fresh: false,
    timing: { queuedUs: 0 },
    done: () => undefined,
    onEnd: () => () => undefined,
    touch: () => undefined,
    awaken: () => undefined,
  }
  return { admit: (ask) => (ask.service.uuid === api.service.uuid ? admission : traffic.admit(ask)) }
}
