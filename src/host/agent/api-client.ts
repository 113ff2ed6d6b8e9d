import { Agent } from 'undici'
import { HostFailure } from '../../domain/instance/host-work.ts'
import { VolumePlace } from '../../domain/host/api-protocol.ts'
import type {
  HostReport,
  LaunchSpec,
  NodeAssignment,
  NodeHeartbeat,
  NodeInstances,
} from '../../domain/host/api-protocol.ts'
import { otherVersion, toldProtocol, wires } from '../../domain/protocols.ts'
import type { LineStreamRequest } from '../../primitives/line-stream.ts'
import { refusalText } from '../../primitives/refusal-text.ts'
import type { LaunchSource } from './agent-ports.ts'
import { span } from '../../primitives/spans.ts'
import { kindName } from '../../domain/part-name.ts'
import { PlatformPart } from '../../domain/platform-part.ts'
import { hostHeader, partConnector } from '../../trust/part-connector.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import { HostStartError } from '../instance/host-start-error.ts'

const requestTimeoutMs = 10_000
/**
 * The most bytes of an answer. The largest answer is the list of a host's instances: 65 534 addresses at
 * about 100 bytes.
 */
const responseMaxBytes = 16 * 1024 * 1024
/** The most connections to the API. A start that finds none free waits for one. */
const connectionsMax = 16

/**
 * The waits between the attempts to get a launch spec while the API is unreachable, 60 s in total. After the
 * last attempt the start fails and its caller decides. A restart of the API takes about 2 s.
 */
const launchRetryDelaysMs = [100, 400, 1_000, 2_000, 4_000, 7_500, 15_000, 30_000] as const

const apiName = kindName(PlatformPart.Api)

/** The API could not be asked, or answered with something other than success. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number | undefined
  constructor(message: string, options: ErrorOptions & { readonly status?: number }) {
    super(message, options)
    this.status = options.status
  }
}

/**
 * The host's side of `src/domain/host/api-protocol.ts`. Error messages never hold a credential, and nothing
 * of an answer's body but why a version is refused.
 */
export class ApiClient implements LaunchSource {
  readonly #baseUrl: string
  readonly #joinToken: string
  readonly #agentSecret: string
  /** Makes the connections to the API. */
  readonly connect: ReturnType<typeof partConnector>
  readonly #dispatcher: Agent

  constructor(options: {
    readonly apiUrl: string
    readonly nodeId: string
    readonly joinToken: string
    readonly agentSecret: string
    /** What a host that joined shows. Absent: the API is on this machine. */
    readonly identity?: () => PartIdentity
  }) {
    this.connect = partConnector(() => options.identity?.())
    this.#dispatcher = new Agent({
      connections: connectionsMax,
      bodyTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      maxResponseSize: responseMaxBytes,
      connect: this.connect,
    })
    this.#baseUrl = `${options.apiUrl.replace(/\/$/, '')}/internal/nodes/${encodeURIComponent(options.nodeId)}`
    this.#joinToken = options.joinToken
    this.#agentSecret = options.agentSecret
  }

  async heartbeat(beat: NodeHeartbeat): Promise<NodeAssignment> {
    return await this.#ask<NodeAssignment>('PUT', '', { body: beat, credential: this.#joinToken })
  }

  async instances(): Promise<NodeInstances> {
    const { instances, arriving } = await this.#ask<NodeInstances>('GET', '/instances', {})
    if (!Array.isArray(instances)) throw new ApiError('the API answered without a list of instances', {})
    return { instances, ...(Array.isArray(arriving) && { arriving }) }
  }

  /** An API of an earlier version does not tell this, so this throws. */
  async placeOfVolume(volumeUuid: string): Promise<VolumePlace> {
    const { place } = await this.#ask<{ place: VolumePlace }>('GET', `/volumes/${volumeUuid}`, {})
    if (Object.values(VolumePlace).includes(place)) return place
    throw new ApiError('the API answered without the place of a volume', {})
  }

  /** Reports an event of an instance or a volume. Returns false if its workflow does not exist any more. */
  async tell(report: HostReport): Promise<boolean> {
    const { taken } = await this.#ask<{ taken: boolean }>('POST', '/reports', { body: report })
    return taken
  }

  /** The next certificate of this host, for the key that it has. */
  async certificate(): Promise<string> {
    return (await this.#ask<{ certificate: string }>('POST', '/certificate', {})).certificate
  }

  async registryToken(repository: string): Promise<string> {
    const { token } = await this.#ask<{ token: string }>('POST', '/registry-token', { body: { repository } })
    return token
  }

  /**
   * Returns the request for the names of this host's instances: those that changed after `since`, or all
   * names if `since` is undefined.
   */
  namesRequest(since: string | undefined): LineStreamRequest {
    const url = new URL(`${this.#baseUrl}/names`)
    if (since !== undefined) url.searchParams.set('since', since)
    const headers = {
      authorization: `Bearer ${this.#agentSecret}`,
      ...toldProtocol(wires.names),
      ...hostHeader(url, apiName),
    }
    return { url, headers }
  }

  async launchSpec(instanceUuid: string, signal: AbortSignal): Promise<LaunchSpec> {
    for (const delayMs of [...launchRetryDelaysMs, undefined]) {
      try {
        const ask = async () =>
          await this.#ask<LaunchSpec>('GET', `/instances/${instanceUuid}/launch`, { signal })
        return await span(instanceUuid, 'host: launch spec', ask)
      } catch (error) {
        signal.throwIfAborted()
        throwIfUnknown(instanceUuid, error)
        if (delayMs === undefined) {
          const message = `the API gave no launch spec: ${(error as Error).message}`
          throw new HostStartError(HostFailure.BootFailed, message, { cause: error })
        }
        await waitUnlessAborted(delayMs, signal)
      }
    }
    throw new Error('unreachable: the last attempt returns or throws')
  }

  async close(): Promise<void> {
    await this.#dispatcher.close()
  }

  async #ask<T>(
    method: 'GET' | 'PUT' | 'POST',
    path: string,
    options: { readonly body?: object; readonly signal?: AbortSignal; readonly credential?: string },
  ): Promise<T> {
    const url = new URL(this.#baseUrl + path)
    try {
      const response = await this.#dispatcher.request({
        origin: url.origin,
        path: url.pathname,
        method,
        headers: {
          authorization: `Bearer ${options.credential ?? this.#agentSecret}`,
          'content-type': 'application/json',
          ...toldProtocol(wires.hostCalls),
          ...hostHeader(url, apiName),
        },
        body: options.body === undefined ? null : JSON.stringify(options.body),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      })
      if (response.statusCode === 200) return (await response.body.json()) as T
      const { statusCode: status } = response
      const text = await response.body.text()
      const refusal = status === otherVersion ? refusalText(text) : undefined
      const message = refusal ?? `${method} ${url.href} was answered with ${String(status)}`
      throw new ApiError(message, { status })
    } catch (error) {
      if (error instanceof ApiError) throw error
      throw new ApiError(`${method} ${url.href} failed: ${(error as Error).message}`, { cause: error })
    }
  }
}

function throwIfUnknown(instanceUuid: string, error: unknown): void {
  if (error instanceof ApiError && error.status === 404) {
    throw new HostStartError(
      HostFailure.UnknownInstance,
      `the API does not place instance ${instanceUuid} on this host`,
      {
        cause: error,
      },
    )
  }
}

async function waitUnlessAborted(delayMs: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, delayMs)
    signal.addEventListener('abort', finish)
  })
  signal.throwIfAborted()
}
