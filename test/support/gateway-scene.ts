import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { feedBeatMs } from '../../src/domain/service/route-feed.ts'
import type { RouteLine, RouteRollout } from '../../src/domain/service/route-feed.ts'
import type { TrafficAnswer } from '../../src/domain/service/service-traffic.ts'
import { beatIntervalMs } from '../../src/domain/standby/lease-protocol.ts'
import { rememberedPorts } from '../../src/launch/ports.ts'
import { jsonLine } from '../../src/primitives/json-lines.ts'
import { FakeLeaseServer } from './fake-lease-server.ts'
import { commandLineOf, familyOf } from './processes.ts'

const checkout = path.resolve(import.meta.dirname, '../..')
const token = 'the-token-of-the-gateway'
export const sceneHost = 'web.test'
export const sceneServiceUuid = '5a3ce2a4-5c43-4b0c-94f4-3d2e9f5d4a11'

/** Everything that a real gateway needs around it: an API with routes, a host, and one instance on it. */
export class GatewayScene {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'roost-gateway-'))
  /** With this offset all public ports are below 32 768, where the ports of connections begin. */
  readonly offset = randomInt(10_000, 27_000)
  readonly metricsPort: number
  /** If it is set before the gateway starts, a second instance is of the new version. */
  rollout: RouteRollout | undefined
  readonly #host: FakeLeaseServer
  readonly #api: Server
  readonly #application: Server
  readonly #beats: NodeJS.Timeout[]

  private constructor(parts: {
    readonly host: FakeLeaseServer
    readonly api: Server
    readonly application: Server
    readonly metricsPort: number
  }) {
    this.#host = parts.host
    this.#api = parts.api
    this.#application = parts.application
    this.metricsPort = parts.metricsPort
    const feeds = new Set<ServerResponse>()
    this.#api.on('request', (_request, response: ServerResponse) => {
      response.write(this.#lines().map(jsonLine).join(''))
      feeds.add(response)
      response.once('close', () => feeds.delete(response))
    })
    this.#beats = [
      setInterval(() => feeds.forEach((feed) => feed.write(jsonLine({ kind: 'beat' }))), feedBeatMs),
      setInterval(() => this.#host.say({ kind: 'beat' }), beatIntervalMs),
    ]
    mkdirSync(path.join(this.directory, 'keys'))
    writeFileSync(path.join(this.directory, 'keys', 'gateway-token'), `${token}\n`)
  }

  /** `applicationPort`: where the application is. If it is absent, one answers `hello` in this process. */
  static async open(applicationPort?: number): Promise<GatewayScene> {
    const host = await FakeLeaseServer.start()
    const application = createServer((_request, response) => response.end('hello'))
    application.keepAliveTimeout = 60_000
    const api = createServer()
    for (const server of [application, api]) {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
    }
    host.reach = { host: '127.0.0.1', port: applicationPort ?? portOf(application) }
    const directory = mkdtempSync(path.join(tmpdir(), 'roost-ports-'))
    const { metrics } = await rememberedPorts(path.join(directory, 'ports.json'), ['metrics'])
    rmSync(directory, { recursive: true })
    return new GatewayScene({ host, api, application, metricsPort: metrics })
  }

  /** The public port for plain HTTP. */
  get port(): number {
    return 80 + this.offset
  }

  get environment(): Readonly<Record<string, string>> {
    return {
      ROOST_DATA_DIR: this.directory,
      ROOST_API_URL: `http://127.0.0.1:${portOf(this.#api)}`,
      ROOST_GATEWAY_METRICS_PORT: String(this.metricsPort),
      ROOST_GATEWAY_PROCESSES: '2',
      ROOST_GATEWAY_HOST: '127.0.0.1',
      ROOST_PORT_OFFSET: String(this.offset),
    }
  }

  /** The text at a path of the gateway's metrics port; undefined if it gives an error or no answer. */
  async health(at: string): Promise<string | undefined> {
    const response = await fetch(`http://127.0.0.1:${this.metricsPort}${at}`).catch(() => undefined)
    const text = await response?.text()
    return response?.status === 200 ? text : undefined
  }

  /** What the gateway tells the API of these services and rollouts. */
  async traffic(...services: readonly string[]): Promise<TrafficAnswer['traffic']> {
    const response = await fetch(`http://127.0.0.1:${this.metricsPort}/services`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ services }),
    })
    return ((await response.json()) as TrafficAnswer).traffic
  }

  /** The value of one line of the metrics; undefined if there is no such line. */
  async metric(line: string): Promise<number | undefined> {
    const all = (await this.health('/metrics'))?.split('\n')
    const found = all?.find((each) => each.startsWith(`${line} `))
    return found === undefined ? undefined : Number(found.slice(line.length + 1))
  }

  /** The root of the metro domain's certificate. */
  get root(): string {
    const file = path.join(this.directory, 'gateway', 'metro', 'roost.localhost', 'authority.crt')
    return readFileSync(file, 'utf8')
  }

  async close(): Promise<void> {
    for (const beat of this.#beats) clearInterval(beat)
    this.#host.close()
    for (const server of [this.#api, this.#application]) {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
    rmSync(this.directory, { recursive: true, force: true })
  }

  #lines(): readonly RouteLine[] {
    const service = {
      uuid: sceneServiceUuid,
      name: 'web',
      domains: [{ fqdn: sceneHost }, { fqdn: 'web.roost.localhost' }],
      ports: [
        { port: 80, destinationPort: 8080, handlers: ['http'] as const },
        { port: 443, destinationPort: 8080, handlers: ['tls', 'http'] as const },
      ],
      softLimit: 10_000,
      hardLimit: 10_000,
      ...(this.rollout === undefined ? {} : { rollout: this.rollout }),
    }
    const instance = { serviceUuid: service.uuid, nodeId: 'node-1', state: 'running' } as const
    return [
      { kind: 'begin', snapshot: true },
      { kind: 'node', node: this.#host.node },
      { kind: 'service', service },
      { kind: 'instance', instance: { ...instance, uuid: 'a', name: 'a' } },
      ...(this.rollout === undefined
        ? []
        : [{ kind: 'instance', instance: { ...instance, uuid: 'b', name: 'b', isNext: true } } as const]),
      { kind: 'end', revision: 'r1' },
    ]
  }
}

/** The main program of the gateway, as a command line. */
export const gatewayProgram = path.join(checkout, 'src/bin/gateway.ts')

/** The serving processes of a gateway that run now. */
export function servingProcesses(mainPid: number): readonly number[] {
  return familyOf(mainPid).filter((pid) => commandLineOf(pid).includes('gateway-serving.ts'))
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
