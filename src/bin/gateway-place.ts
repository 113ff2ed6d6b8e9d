import path from 'node:path'
import type { Logger } from 'pino'
import { gatewayRenewalPath, joinedGatewayPort } from '../domain/host/gateway-role.ts'
import { PlatformPart } from '../domain/platform-part.ts'
import type { FeedClientOptions } from '../gateway/feed-client.ts'
import type { MetroCertificate } from '../gateway/listeners/server-contexts.ts'
import type { RouteTable } from '../gateway/route-table.ts'
import { openMetroCertificate } from '../launch/services/metro-certificate.ts'
import { keptIdentity, readSettingFile } from '../settings/part-settings.ts'
import type { Settings } from '../settings/settings.ts'
import { AskedIdentity, partId } from '../trust/asked-identity.ts'
import { apiHeader, askForCertificate } from '../trust/certificate-request.ts'
import type { KeptIdentity } from '../trust/kept-identity.ts'
import { partConnector } from '../trust/part-connector.ts'
import type { PartIdentity } from '../trust/part-identity.ts'
import { publishMetro } from './gateway-metro.ts'

/** What differs between a gateway beside the API and one on a machine that joined. */
export interface GatewayPlace {
  /** How the gateway asks the API for routes. */
  readonly feed: Pick<FeedClientOptions, 'headers' | 'connect'>
  /** The secret by which the last routes on disk are sealed. */
  readonly fileSecret: string
  /** What it shows to other parts. Absent: all parts are on one machine. */
  readonly identity: ShownIdentity | undefined
  /** Where it tells its health, metrics and counts, and to whom. */
  readonly health: HealthPlace
  /** Why the API tells no routes if it answers with this status. Undefined if the status does not tell. */
  refusal(status: number): { readonly message: string; readonly isFinal: boolean } | undefined
  /** Opens the certificate of the metro domain. `onChange` is called when it is another one. */
  openMetro(table: RouteTable, onChange: () => void): Promise<MetroCertificate & { close(): Promise<void> }>
  stop(): void
}

export interface ShownIdentity {
  readonly current: PartIdentity | undefined
  onChange(listener: (identity: PartIdentity) => void): void
}

export interface HealthPlace {
  readonly host: string
  readonly port: number
  /** The token that opens the counts of services. Absent: certificates say who may ask. */
  readonly token?: string
  readonly identity?: KeptIdentity
}

const unauthenticated = 401

export async function openPlace(settings: Settings, log: Logger): Promise<GatewayPlace> {
  const joined = await keptIdentity(settings.identityDir)
  return joined === undefined ? await besideApi(settings, log) : await joinedMachine(settings, joined, log)
}

async function besideApi(settings: Settings, log: Logger): Promise<GatewayPlace> {
  const { apiUrl, gatewayDir, hostsAddress, metroDomain } = settings
  const token = await readSettingFile('ROOST_GATEWAY_TOKEN_FILE', settings.gatewayTokenFile)
  const onProblem = (message: string, error?: unknown): void => log.warn({ err: error }, message)
  const identity =
    hostsAddress &&
    new AskedIdentity({
      apiUrl,
      token,
      name: { part: PlatformPart.Gateway, id: await partId(gatewayDir) },
      directory: path.join(gatewayDir, 'identity'),
      onProblem,
    })
  const stopping = new AbortController()
  return {
    feed: { headers: { authorization: `Bearer ${token}` } },
    fileSecret: token,
    identity,
    health: { host: settings.metricsHost, port: settings.gatewayMetricsPort, token },
    refusal: (status) =>
      status === unauthenticated
        ? {
            message:
              'the API does not take the token: ROOST_GATEWAY_TOKEN_FILE has to hold the one that the API has',
            isFinal: false,
          }
        : undefined,
    async openMetro(_table, onChange) {
      const files = { certFile: settings.metroCertFile, keyFile: settings.metroKeyFile }
      const publish = (): void => {
        if (hostsAddress === undefined) return
        void publishMetro({ apiUrl, token, metroDomain, metro, signal: stopping.signal, onProblem })
      }
      const metro = await openMetroCertificate(
        { directory: gatewayDir, metroDomain, ...files },
        {
          onChange: () => {
            log.info('the certificate of the metro domain is another one now')
            publish()
            onChange()
          },
          onProblem,
        },
      )
      publish()
      return metro
    },
    stop() {
      stopping.abort()
      identity?.stop()
    },
  }
}

async function joinedMachine(settings: Settings, identity: KeptIdentity, log: Logger): Promise<GatewayPlace> {
  const connect = partConnector(() => identity.current)
  await identity.keepValid(
    async () => await askForCertificate(new URL(gatewayRenewalPath, settings.apiUrl), connect),
    (error) => log.warn({ err: error }, 'the certificate of this gateway could not be renewed yet'),
  )
  return {
    feed: { headers: apiHeader, connect },
    fileSecret: identity.current.key,
    identity,
    health: { host: settings.metricsHost, port: joinedGatewayPort, identity },
    refusal: (status) =>
      status === unauthenticated
        ? {
            message: 'this machine is not a gateway of the installation any more, so the gateway ends',
            isFinal: true,
          }
        : undefined,
    async openMetro(table, onChange) {
      const noneYet = { chain: '', key: '' }
      const unsubscribe = table.onChange(({ metros }) => {
        if (metros.has(settings.metroDomain)) onChange()
      })
      return await Promise.resolve({
        get current() {
          return table.metro(settings.metroDomain) ?? noneYet
        },
        async close() {
          await Promise.resolve()
          unsubscribe()
        },
      })
    },
    stop: () => identity.stop(),
  }
}
