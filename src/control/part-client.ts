import { Agent, request } from 'undici'
import { PlatformPart } from '../domain/platform-part.ts'
import type { PartPlace } from '../domain/platform-part.ts'
import type { TrafficAnswer } from '../domain/service/service-traffic.ts'

/** The requests of the API to workers, gateways and other APIs, for metrics. */
export interface PartClient {
  readonly places: readonly PartPlace[]
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
  close(): Promise<void>
}

export interface GatewayTraffic extends TrafficAnswer {
  /** The number of the gateway. Users do not learn its address. */
  readonly gateway: string
}

/** A part did not answer, or its answer was not sound. */
export class PartUnreachable extends Error {
  override readonly name = 'PartUnreachable'
}

/** Prometheus waits for ten seconds. A gateway takes up to two, if one of its processes is stuck. */
const callTimeoutMs = 5_000
const connectTimeoutMs = 1_000
const maxConnections = 8
/** Some hundred times what a part has to tell, and the traffic of some ten thousand services. */
const maxAnswerBytes = 16_777_216

export function createPartClient(options: {
  readonly places: readonly PartPlace[]
  readonly gatewayToken: string
}): PartClient {
  const { places, gatewayToken } = options
  const gateways = places.filter(({ part }) => part === PlatformPart.Gateway)
  const dispatcher = new Agent({
    connections: maxConnections,
    connect: { timeout: connectTimeoutMs },
    maxResponseSize: maxAnswerBytes,
  })

  async function send(place: PartPlace, path: string, init: Init): Promise<string> {
    try {
      const signal = AbortSignal.timeout(callTimeoutMs)
      const response = await request(new URL(path, place.address), { dispatcher, signal, ...init })
      if (response.statusCode === 200) return await response.body.text()
      await response.body.dump()
      throw new PartUnreachable(`the ${place.part} at ${place.name} answered ${response.statusCode}`)
    } catch (cause) {
      if (cause instanceof PartUnreachable) throw cause
      throw new PartUnreachable(`the ${place.part} at ${place.name} does not answer`, { cause })
    }
  }

  return {
    places,
    readMetrics: async (place) => await send(place, '/metrics', { method: 'GET' }),
    async readTraffic(services, onSilent) {
      if (services.length === 0) return []
      const headers = { authorization: `Bearer ${gatewayToken}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ services })
      const answers = await Promise.all(
        gateways.map(async (place, index): Promise<readonly GatewayTraffic[]> => {
          try {
            const text = await send(place, '/services', { method: 'POST', headers, body })
            const { run, traffic } = JSON.parse(text) as TrafficAnswer
            return [{ gateway: String(index + 1), run, traffic }]
          } catch (error) {
            if (!(error instanceof PartUnreachable)) throw error
            onSilent(error)
            return []
          }
        }),
      )
      return answers.flat()
    },
    close: async () => await dispatcher.close(),
  }
}

interface Init {
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}
