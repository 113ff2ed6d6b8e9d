import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { isJsonObject, parseJson } from '../domain/json-text.ts'
import { addressesFileName } from '../launch/stack-plan.ts'
import { CliFailure } from './cli-failure.ts'

/**
 * The settings that say where a stack's services are. For embedded services, the stack has recorded the
 * addresses.
 */
export interface StackAddressSettings {
  readonly dataDir: string
  readonly apiUrl: string
  readonly databaseUrl: string | undefined
  readonly registryUrl: string | undefined
  readonly temporalAddress: string | undefined
}

export async function findDatabaseUrl(settings: StackAddressSettings): Promise<string> {
  return settings.databaseUrl ?? (await readAddress(settings, 'databaseUrl', 'DATABASE_URL'))
}

export async function findTemporalAddress(settings: StackAddressSettings): Promise<string> {
  return settings.temporalAddress ?? (await readAddress(settings, 'temporalAddress', 'TEMPORAL_ADDRESS'))
}

export async function findRegistryUrl(settings: StackAddressSettings): Promise<string> {
  return settings.registryUrl ?? (await readAddress(settings, 'registryUrl', 'ROOST_REGISTRY_URL'))
}

/**
 * A stack on this machine has recorded its API's address. For a registry elsewhere the settings say where
 * the API is.
 */
export async function findApiUrl(settings: StackAddressSettings): Promise<string> {
  if (settings.registryUrl !== undefined) return settings.apiUrl
  return readAddress(settings, 'apiUrl', 'ROOST_REGISTRY_URL')
}

async function readAddress(
  settings: StackAddressSettings,
  name: 'databaseUrl' | 'registryUrl' | 'apiUrl' | 'temporalAddress',
  variable: string,
): Promise<string> {
  const file = path.join(settings.dataDir, addressesFileName)
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CliFailure(
      `no stack has run in ${settings.dataDir}: start it (npm start), name its directory in ROOST_DATA_DIR, or set ${variable}`,
      { cause: error },
    )
  })
  const addresses = parseJson(text)
  if (!isJsonObject(addresses)) throw new CliFailure(`${file} is damaged; start the stack once more`)
  const address = addresses[name]
  if (typeof address !== 'string') throw new CliFailure(`${file} names no ${name}; start the stack once more`)
  return address
}
