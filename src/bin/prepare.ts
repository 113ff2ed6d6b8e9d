import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { prepareDatabase } from '../launch/first-start.ts'
import { ensureKeys } from '../launch/keys.ts'
import { readNamespaceConfig } from '../launch/services/temporal-config.ts'
import { registerNamespace } from '../launch/services/temporal-registration.ts'
import { registryConfig } from '../registry/registry-config.ts'
import { readTemporalPlace, required, startWith } from '../settings/part-settings.ts'
import { readSettings } from '../settings/settings.ts'

/**
 * Does for an installation on real services what the embedded stack does between its services and its parts:
 * keys, the registry's configuration, the schema, the first user, Temporal's namespace. Run it before the
 * parts; repeating it changes nothing.
 */
const { settings, databaseUrl, temporal } = await startWith('preparation', async () => {
  const given = readSettings(process.env)
  return {
    settings: given,
    databaseUrl: required('DATABASE_URL', given.databaseUrl),
    temporal: await readTemporalPlace({
      ...given,
      temporalAddress: required('TEMPORAL_ADDRESS', given.temporalAddress),
    }),
  }
})
const registryPort = 5000

await ensureKeys(settings, Date.now())
await writeRegistryConfig()
await startWith('preparation', () =>
  prepareDatabase({ url: databaseUrl, tokenFile: path.join(settings.dataDir, 'token') }),
)
await registerNamespace({ ...temporal, config: readNamespaceConfig() })

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
