import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { openDatabase } from '../db/database.ts'
import { migrate } from '../db/schema/migrate.ts'
import { writeImageEvent } from '../db/image/events.ts'
import { recordRegistryUsage, registryQuotaMb } from '../db/image/registry-usage.ts'
import { diskSizeAt } from '../host/free-bytes.ts'
import { createRegistryOwner } from '../registry/owner/registry-owner.ts'
import { imagesInUse } from '../db/image/user-images.ts'
import { readRegistrySigningKey } from '../registry/signing-key.ts'
import { readSettingFile, required, startWith } from '../settings/part-settings.ts'
import { readSettings } from '../settings/settings.ts'

/**
 * The most connections to PostgreSQL. The process asks one short question per push, and writes one row per
 * user who pushes.
 */
const poolSize = 4

const { settings, databaseUrl, registryUrl, key } = await startWith(
  'owner of the registry',
  readConfiguration,
)
const log = pino({ level: settings.logLevel })
const storageDirectory = path.join(settings.dataDir, 'registry', 'storage')

const database = await startWith('owner of the registry', () =>
  openDatabase({ url: databaseUrl, applicationName: 'registry-owner', poolSize }),
)
await startWith('owner of the registry', () => migrate(database))

const owner = createRegistryOwner({
  registryUrl,
  storageDirectory,
  key,
  // An API that speaks TLS itself is not served by the gateway.
  metroDomain: settings.apiUrl.startsWith('http:') ? settings.metroDomain : undefined,
  quotaMb: (user) => registryQuotaMb(database, user),
  recordUsage: (usage) => recordRegistryUsage(database, usage),
  imagesInUse: async () => new Set(await imagesInUse(database)),
  disk: async () => await diskSizeAt(storageDirectory),
  nowMs: Date.now,
  delay: async (ms) => await delay(ms, undefined, { ref: false }),
  onImage: (change) =>
    void writeImageEvent(database, change).catch((error: unknown) =>
      log.warn({ err: error, image: change }, 'the event of an image could not be written'),
    ),
  onError: (error) => log.warn({ err: error }, 'work on the registry failed'),
})
await owner.start()
owner.server.listen(settings.registryOwnerPort, '127.0.0.1')
await once(owner.server, 'listening')
log.info({ port: settings.registryOwnerPort }, 'listening')

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    log.info({}, 'closing')
    void owner
      .close()
      .then(() => database.close())
      .finally(() => process.exit(0))
  })
}

async function readConfiguration() {
  const given = readSettings(process.env)
  return {
    settings: given,
    databaseUrl: required('DATABASE_URL', given.databaseUrl),
    registryUrl: required('ROOST_REGISTRY_URL', given.registryUrl),
    key: readRegistrySigningKey({
      key: await readSettingFile('ROOST_REGISTRY_KEY_FILE', given.registryKeyFile),
      certificate: await readSettingFile('ROOST_REGISTRY_CERT_FILE', given.registryCertFile),
    }),
  }
}
