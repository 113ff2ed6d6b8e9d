import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { requireInstalled } from '../installed.ts'
import type { Installed } from '../installed.ts'
import { ensureSecret } from '../keys.ts'
import type { Part } from '../parts/part.ts'
import { applicationUrl } from './postgres-roles.ts'
import { postgresPart } from './postgres.ts'
import { registryPart } from './registry.ts'
import type { StackSettings } from '../stack-settings.ts'
import { temporalPart } from './temporal.ts'

export interface ServicesInput {
  readonly settings: StackSettings
  readonly installed: Installed
  readonly ports: {
    readonly postgres: number
    readonly temporal: number
    readonly registry: number
    readonly registryStorage: number
  }
  /** Called when the embedded database answers for the first time. */
  readonly afterDatabase: (databaseUrl: string) => Promise<void>
}

export interface Services {
  readonly databaseUrl: string
  readonly temporalAddress: string
  /** The address at which users push and pull. */
  readonly registryUrl: string
  /** The address at which the platform's own parts read. */
  readonly registryAt: string
  /** The embedded services, in the order of their start. */
  readonly parts: readonly Part[]
}

interface Service {
  readonly at: string
  readonly parts: readonly Part[]
}

const passwordBytes = 24

/** Plans PostgreSQL, Temporal and the registry. Each is embedded, unless the settings name another one. */
export async function planServices(input: ServicesInput): Promise<Services> {
  const { settings, ports } = input
  const postgres = await planPostgres(input)
  const temporal = await planTemporal(input)
  const registry = await planRegistry(input)
  return {
    databaseUrl: postgres.at,
    temporalAddress: temporal.at,
    registryUrl: settings.registryUrl ?? `http://127.0.0.1:${ports.registry}`,
    registryAt: registry.at,
    parts: [...postgres.parts, ...temporal.parts, ...registry.parts],
  }
}

async function planPostgres({ settings, ports, afterDatabase }: ServicesInput): Promise<Service> {
  if (settings.databaseUrl !== undefined) return { at: settings.databaseUrl, parts: [] }
  const options = {
    directory: path.join(settings.dataDir, 'postgres'),
    port: ports.postgres,
    password: await keptSecret(settings, 'postgres-password'),
    applicationPassword: await keptSecret(settings, 'postgres-app-password'),
  }
  const at = applicationUrl(options)
  return { at, parts: [await postgresPart(options, () => afterDatabase(at))] }
}

async function planTemporal({ settings, installed, ports }: ServicesInput): Promise<Service> {
  if (settings.temporalAddress !== undefined) return { at: settings.temporalAddress, parts: [] }
  const part = await temporalPart({
    program: requireInstalled(installed, 'temporalCli'),
    databaseFile: path.join(settings.dataDir, 'temporal', 'temporal.db'),
    formerDatabaseFile: path.join(settings.dataDir, 'temporal.db'),
    port: ports.temporal,
    uiPort: settings.temporalUiPort,
    namespace: settings.temporalNamespace,
  })
  return { at: `127.0.0.1:${ports.temporal}`, parts: [part] }
}

async function planRegistry({ settings, installed, ports }: ServicesInput): Promise<Service> {
  if (settings.registryUrl !== undefined) return { at: settings.registryUrl, parts: [] }
  const part = await registryPart({
    program: requireInstalled(installed, 'registry'),
    directory: path.join(settings.dataDir, 'registry'),
    port: ports.registryStorage,
    apiUrl: settings.apiUrl,
    certificateFile: settings.registryCertFile,
    httpSecret: await keptSecret(settings, 'registry-http-secret'),
  })
  return { at: `http://127.0.0.1:${ports.registryStorage}`, parts: [part] }
}

function keptSecret(settings: StackSettings, name: string): Promise<string> {
  const file = path.join(settings.dataDir, 'keys', name)
  return ensureSecret(file, () => randomBytes(passwordBytes).toString('base64url'))
}
