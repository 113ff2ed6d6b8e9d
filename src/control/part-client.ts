import { Agent, request } from 'undici'
import type { JoinedPart } from '../db/host/joining.ts'
import {
  gatewayCountsPath,
  joinedPorts,
  partsBesideMetricsPath,
  partsBesidePath,
} from '../domain/host/control-role.ts'
import { isJsonObject, parseJson } from '../domain/json-text.ts'
import { HostRole } from '../domain/host/role.ts'
import { fullName, kindName } from '../domain/part-name.ts'
import { PlatformPart } from '../domain/platform-part.ts'
import type { PartPlace } from '../domain/platform-part.ts'
import type { TrafficAnswer } from '../domain/service/service-traffic.ts'
import { partConnector } from '../trust/part-connector.ts'
import type { PartIdentity } from '../trust/part-identity.ts'

/** The requests of the API to workers, gateways and other APIs, for metrics. */
export interface PartClient {
  /** The parts that the settings name. */
  readonly placesHere: readonly PartPlace[]
  /** All parts that there are now. */
  places(): Promise<readonly PartPlace[]>
  /** The metrics of a part in the Prometheus text format. Throws `PartUnreachable`. */
  readMetrics(place: PartPlace): Promise<string>
  /**
   * What each gateway counted of these services. Gateways that do not answer are left out, and told to
   * `onSilent`.
   */
  readTraffic(
    serviceUuids: readonly string[],
    onSilent: (error: PartUnreachable) => void,
  ): Promise<readonly GatewayTraffic[]>
  /** The same of the gateways that the settings name alone. */
  readTrafficHere(
    serviceUuids: readonly string[],
    onSilent: (error: PartUnreachable) => void,
  ): Promise<readonly GatewayTraffic[]>
  close(): Promise<void>
}

export interface GatewayTraffic extends TrafficAnswer {
  /** The number of the gateway, or its alias. Users do not learn its address. */
  readonly gateway: string
}

/** A part did not answer, or its answer was not sound. */
export class PartUnreachable extends Error {
  override readonly name = 'PartUnreachable'
}

/** Prometheus waits for ten seconds. A gateway takes up to two, if one of its processes is stuck. */
const callTimeoutMs = 5_000
/** An API that asks on behalf of another one answers before the other gives up. */
const passedTimeoutMs = 3_000
const connectTimeoutMs = 1_000
const maxConnections = 8
const aliasDigits = 8
/** Some hundred times what a part has to tell, and the traffic of some ten thousand services. */
const maxAnswerBytes = 16_777_216

export function createPartClient(options: {
  /** The parts that the settings name. */
  readonly places: readonly PartPlace[]
  readonly gatewayToken: string
  /** The parts on machines that joined, as they are now. Absent: there are none. */
  readonly joined?: () => Promise<readonly JoinedPart[]>
  /**
   * Where APIs on other machines are, such as `192.0.2.1:7075`. They tell of the parts beside them. Absent:
   * the settings name all parts that did not join.
   */
  readonly apis?: () => Promise<readonly string[]>
  /** What is shown to them. */
  readonly identity?: () => PartIdentity | undefined
}): PartClient {
  const { gatewayToken, joined, apis, identity = () => undefined } = options
  const dispatcher = new Agent({
    connections: maxConnections,
    connect: partConnector(identity, { timeout: connectTimeoutMs }),
    maxResponseSize: maxAnswerBytes,
  })

  async function known(): Promise<readonly PartPlace[]> {
    return [...options.places, ...((await joined?.()) ?? []).map(placeOf)]
  }

  async function send(place: PartPlace, path: string, init: Init): Promise<string> {
    try {
      const signal = AbortSignal.timeout(init.limitMs ?? callTimeoutMs)
      const { certifiedAs } = place
      const headers = { ...init.headers, ...(certifiedAs !== undefined && { host: certifiedAs }) }
      const url = new URL(path, place.address)
      const { method, body = null } = init
      const response = await request(url, { dispatcher, signal, method, body, headers })
      if (response.statusCode === 200) return await response.body.text()
      await response.body.dump()
      throw new PartUnreachable(`the ${place.part} at ${place.name} answered ${response.statusCode}`)
    } catch (cause) {
      if (cause instanceof PartUnreachable) throw cause
      throw new PartUnreachable(`the ${place.part} at ${place.name} does not answer`, { cause })
    }
  }

  const { trafficOf, trafficElsewhere } = trafficReaders(send, gatewayToken)
  return {
    placesHere: options.places,
    async places() {
      const [own, beside] = await Promise.all([known(), placesElsewhere(send, (await apis?.()) ?? [])])
      return [...own, ...beside]
    },
    async readMetrics(place) {
      const { through, part, name } = place
      if (through === undefined) return await send(place, '/metrics', { method: 'GET' })
      const query = new URLSearchParams({ part, name })
      return await send(apiAt(through), `${partsBesideMetricsPath}?${query.toString()}`, { method: 'GET' })
    },
    async readTraffic(services, onSilent) {
      if (services.length === 0) return []
      const gateways = (await known()).filter(isGateway)
      const answers = await Promise.all([
        trafficOf(gateways, services, { onSilent }),
        trafficElsewhere((await apis?.()) ?? [], services, onSilent),
      ])
      return answers.flat()
    },
    readTrafficHere: async (services, onSilent) =>
      await trafficOf(options.places.filter(isGateway), services, { onSilent, limitMs: passedTimeoutMs }),
    close: async () => await dispatcher.close(),
  }
}

type Send = (place: PartPlace, path: string, init: Init) => Promise<string>
type OnSilent = (error: PartUnreachable) => void

function trafficReaders(send: Send, gatewayToken: string) {
  return {
    async trafficOf(
      gateways: readonly PartPlace[],
      services: readonly string[],
      { onSilent, limitMs }: { readonly onSilent: OnSilent; readonly limitMs?: number },
    ) {
      const body = JSON.stringify({ services })
      return await eachAnswer(gateways, onSilent, async (place, index) => {
        // A gateway with a certificate goes by that of its caller, and is not told the token.
        const token = place.certifiedAs === undefined && { authorization: `Bearer ${gatewayToken}` }
        const headers = { ...token, 'content-type': 'application/json' }
        const limit = limitMs === undefined ? {} : { limitMs }
        const text = await send(place, '/services', { method: 'POST', headers, body, ...limit })
        const { run, traffic } = read(place, text) as TrafficAnswer
        return [{ gateway: place.alias ?? String(index + 1), run, traffic }]
      })
    },

    /** What gateways beside APIs on other machines have counted, as those APIs tell it. */
    async trafficElsewhere(addresses: readonly string[], services: readonly string[], onSilent: OnSilent) {
      const body = JSON.stringify({ services })
      return await eachAnswer(addresses.map(apiAt), onSilent, async (place) => {
        const headers = { 'content-type': 'application/json' }
        const text = await send(place, gatewayCountsPath, { method: 'POST', headers, body })
        return (read(place, text) as { readonly gateways: readonly GatewayTraffic[] }).gateways
      })
    },
  }
}

/** Throws `PartUnreachable` if a part answers with something else than JSON. */
function read(place: PartPlace, text: string): object {
  const answer = parseJson(text)
  if (isJsonObject(answer)) return answer
  throw new PartUnreachable(`the ${place.part} at ${place.name} answered with something else than JSON`)
}

function isGateway({ part }: PartPlace): boolean {
  return part === PlatformPart.Gateway
}

/** The answers of these parts together. Those that do not answer are left out. */
async function eachAnswer(
  places: readonly PartPlace[],
  onSilent: (error: PartUnreachable) => void,
  ask: (place: PartPlace, index: number) => Promise<readonly GatewayTraffic[]>,
): Promise<readonly GatewayTraffic[]> {
  const answers = await Promise.all(
    places.map(async (place, index) => {
      try {
        return await ask(place, index)
      } catch (error) {
        if (!(error instanceof PartUnreachable)) throw error
        onSilent(error)
        return []
      }
    }),
  )
  return answers.flat()
}

function apiAt(address: string): PartPlace {
  const certifiedAs = kindName(PlatformPart.Api)
  return { part: PlatformPart.Api, name: address, address: `https://${address}`, certifiedAs }
}

/** The parts beside APIs on other machines, as those tell them. Those that do not answer are left out. */
async function placesElsewhere(send: Send, addresses: readonly string[]): Promise<readonly PartPlace[]> {
  const told = await Promise.all(
    addresses.map(async (address) => {
      try {
        const text = await send(apiAt(address), partsBesidePath, { method: 'GET' })
        const { parts } = read(apiAt(address), text) as { readonly parts: readonly PartPlace[] }
        return parts.map((place) => ({ ...place, through: address }))
      } catch (error) {
        if (error instanceof PartUnreachable) return []
        throw error
      }
    }),
  )
  return told.flat()
}

/**
 * Where a part that joined answers: on the machine of the agent, at the port that all such parts have. The
 * alias of a gateway does not change when others come and go, because counts are added up under it.
 */
function placeOf({ part, hostId, agentUrl, keySha256 }: JoinedPart): PartPlace {
  const url = new URL(agentUrl)
  url.port = String(joinedPorts[part])
  return {
    part,
    name: hostId,
    address: url.origin,
    certifiedAs: part === HostRole.Api ? kindName(part) : fullName({ part, id: hostId }),
    ...(part === HostRole.Gateway && keySha256 !== undefined && { alias: keySha256.slice(0, aliasDigits) }),
  }
}

interface Init {
  /** Absent: `callTimeoutMs`. */
  readonly limitMs?: number
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}
