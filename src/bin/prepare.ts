import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { prepareDatabase } from '../launch/first-start.ts'
import { ensureKeys } from '../launch/keys.ts'
import { readNamespaceConfig } from '../launch/temporal-config.ts'
import { registerNamespace } from '../launch/temporal-registration.ts'
import { registryConfig } from '../registry/registry-config.ts'
import { SettingError } from './setting-formats.ts'
import { readSettings } from './settings.ts'

/**
 * What the embedded stack does between its services and its parts, for an installation on real ones: keys, the registry's
 * configuration, the schema, the first user, Temporal's namespace. Run it before the parts; repeating it changes nothing.
 */
const settings = readSettings(process.env)
const registryPort = 5000

await ensureKeys(settings, Date.now())
await writeRegistryConfig()
await prepareDatabase({
  url: given(settings.databaseUrl, 'DATABASE_URL'),
  tokenFile: path.join(settings.dataDir, 'token'),
})
await registerNamespace({
  address: given(settings.temporalAddress, 'TEMPORAL_ADDRESS'),
  namespace: settings.temporalNamespace,
  config: readNamespaceConfig(),
})

async function writeRegistryConfig(): Promise<void> {
  const directory = path.join(settings.dataDir, 'registry')
  await mkdir(directory, { recursive: true })
  const config = registryConfig({
    storageDirectory: '/var/lib/registry',
    address: `0.0.0.0:${registryPort}`,
    realm: `${settings.apiUrl}/registry/token`,
    certificateFile: settings.registryCertFile,
    logLevel: 'error',
  })
  await writeFile(path.join(directory, 'config.yml'), config)
}

function given(value: string | undefined, name: string): string {
  if (value === undefined) throw new SettingError(`${name} is not set`)
  return value
}
