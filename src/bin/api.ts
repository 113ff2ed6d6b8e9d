import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { pino } from 'pino'
import { createApiMetrics } from '../api/api-metrics.ts'
import { createPlatformMetrics, Housekeeping } from '../api/platform-metrics.ts'
import { createApp } from '../api/app.ts'
import { createDomainProofs } from '../api/service/domain-proofs.ts'
import { createTextLookup } from '../acme/text-lookups.ts'
import { createHostReports } from '../control/host-reports.ts'
import { createNodeClient } from '../control/host-client.ts'
import { createPartClient } from '../control/part-client.ts'
import { createRegistryTokens } from '../api/image/registry-tokens.ts'
import { closeServer, createApiServer } from '../api/server.ts'
import {
  handlingTimeoutMs,
  makingVolumesMs,
  maxEventsPerAccount,
  requestBurstSeconds,
} from '../contract/limits.ts'
import { openTemporalControl } from '../control/temporal-control.ts'
import { listApiAddresses } from '../db/api-addresses.ts'
import { openDatabase } from '../db/database.ts'
import { forgetEvents, keepEventOrder } from '../db/event/retention.ts'
import { forgetGone } from '../db/service/feed-read.ts'
import { openInstanceWatch } from '../db/instance/watch.ts'
import { migrate } from '../db/schema/migrate.ts'
import { listNodes } from '../db/host/hosts.ts'
import { joinedParts } from '../db/host/joining.ts'
import { createProofTokens } from '../db/service/proof-token.ts'
import { createSecretBox } from '../db/secret-box.ts'
import { createSessions } from '../db/account/sessions.ts'
import { readConsoleFiles } from '../api/console/files.ts'
import { readInstalled, requireInstalled } from '../launch/installed.ts'
import { createTokenAuthenticator } from '../db/account/authenticator.ts'
import { imagesOfUser } from '../db/image/user-images.ts'
import { toldTermMs } from '../domain/host/term.ts'
import { DomainProofKind } from '../domain/service/domain-proof.ts'
import { publicAddress, registryName } from '../domain/service/public-address.ts'
import { createImageFactsCache } from '../registry/image-facts.ts'
import { createImageListing } from '../registry/image-listing.ts'
import { createImageResolver } from '../registry/image-resolver.ts'
import { platformTokens } from '../registry/platform-tokens.ts'
import { createRegistryClient } from '../registry/registry-client.ts'
import { createRegistryHttp } from '../registry/registry-http.ts'
import { readRegistrySigningKey } from '../registry/signing-key.ts'
import { createRegistryTokenIssuer } from '../registry/token-issuer.ts'
import { OwnIdentity } from '../trust/own-identity.ts'
import { openRemoteServer } from './api-remote.ts'
import { logSpans } from './span-log.ts'
import { openTracing } from '../tracing/tracing.ts'
import { servicesHereAlone, sharedSettings } from '../settings/control-settings.ts'
import { partsHere, platformPorts } from '../settings/platform-ports.ts'
import {
  readSecretKey,
  readSettingFile,
  readTemporalPlace,
  required,
  startWith,
} from '../settings/part-settings.ts'
import { readSettings } from '../settings/settings.ts'

/**
 * How long requests under way may take once the API stops. Requests that wait for a state are answered at
 * once.
 */
const closeGraceMs = 5_000
/**
 * The time between two removals of old records of deletions. Every reader of the feed received them long
 * ago.
 */
const forgetGoneEveryMs = 600_000
const forgetEventsEveryMs = 3_600_000

const { settings, databaseUrl, registryUrl, files } = await startWith('API', readConfiguration)
const log = pino({ level: settings.logLevel })
logSpans(settings)
const tracer = await openTracing('api', { env: process.env, log })
const stopping = new AbortController()

const database = await startWith('API', () => openDatabase({ url: databaseUrl, applicationName: 'api' }))
const migrations = await startWith('API', () => migrate(database))
if (migrations.length > 0) log.info({ migrations }, 'the database was brought up to date')

await keepEventOrder(database)

const secretBox = createSecretBox(files.secretKey)
const tokens = createTokenAuthenticator(database)
const consoleFiles = await builtConsole()
const watch = await openInstanceWatch(database)
const temporalPlace = await startWith('API', () => readTemporalPlace(settings))
const temporal = openTemporalControl(temporalPlace)
/** What this process shows to hosts. Absent: there are no further hosts. */
const remote = files.authority && (await OwnIdentity.open(files.authority, Date.now))
const nodes = createNodeClient({
  listNodes: () => listNodes({ database, secretBox }, { isElsewhere: settings.identityDir !== undefined }),
  nowMs: Date.now,
  ...(remote && { identity: () => remote.current }),
})

const parts = createPartClient({
  // On a machine that joined, they are among those that did.
  places: settings.metricsParts ?? (settings.identityDir === undefined ? partsHere(settings) : []),
  gatewayToken: files.gatewayToken,
  ...(remote && {
    joined: async () => await joinedParts(database),
    ...(settings.identityDir !== undefined && { apis: async () => await listApiAddresses(database) }),
    identity: () => remote.current,
  }),
})
const metrics = createApiMetrics()
const platform = createPlatformMetrics(metrics.registry, database)

const signingKey = readRegistrySigningKey({
  key: files.registryKey,
  certificate: files.registryCert,
})
const issuer = createRegistryTokenIssuer(signingKey)
const registryHttp = createRegistryHttp({
  url: registryUrl,
  token: platformTokens(issuer),
})
const registryClient = createRegistryClient(registryHttp)
const facts = createImageFactsCache(registryClient)

const hostReports = createHostReports(temporalPlace)
const app = createApp({
  database,
  secretBox,
  tokens,
  sessions: createSessions(database),
  ...(consoleFiles && { consoleFiles }),
  watch,
  control: temporal.instances,
  volumeControl: temporal.volumes,
  certificateControl: temporal.certificates,
  autoscaleControl: temporal.autoscales,
  scheduleControl: temporal.schedules,
  rolloutControl: temporal.rollouts,
  hostControl: temporal.hosts,
  nodes,
  hostReports,
  authority: files.authority,
  parts,
  images: createImageResolver(registryClient, facts),
  imageListing: createImageListing({
    client: registryClient,
    facts,
    inUse: (userName) => imagesOfUser(database, userName),
    onDamaged: (image, error) => log.error({ err: error, image }, 'an image is damaged in the registry'),
  }),
  registry: createRegistryTokens(issuer, tokens, settings.registryBounded),
  ...(settings.domainProof === DomainProofKind.Txt && {
    domainProofs: createDomainProofs({
      tokens: createProofTokens(files.secretKey),
      textsOf: createTextLookup(settings.acmeResolver),
      nowMs: Date.now,
    }),
  }),
  metrics,
  tracer,
  log,
  nowMs: Date.now,
  stopping: stopping.signal,
  settings: {
    rate: {
      perSecond: settings.requestsPerSecond,
      burst: settings.requestsPerSecond * requestBurstSeconds,
    },
    changesPerMinute: settings.changesPerMinute * availableParallelism(),
    joinToken: files.joinToken,
    gatewayToken: files.gatewayToken,
    hostsAddress: settings.hostsAddress,
    servicesHereAlone: servicesHereAlone(settings),
    termMs: toldTermMs(settings),
    firstSubnet: settings.vmSubnet,
    handlingTimeoutMs,
    makingVolumesMs,
    metroDomain: settings.metroDomain,
    registryUrl: settings.registryBounded
      ? publicAddress(registryName(settings.metroDomain), settings.portOffset)
      : registryUrl,
    registryBounded: settings.registryBounded,
    publicPorts: { offset: settings.portOffset, withheld: platformPorts(settings) },
  },
})

const forgetting = setInterval(() => {
  forgetGone(database).catch((error: unknown) => {
    platform.housekeepingFailed(Housekeeping.Deletions)
    log.warn({ err: error }, 'old deletions could not be forgotten')
  })
}, forgetGoneEveryMs)

const forgettingEvents = setInterval(() => {
  const kept = { days: settings.eventDays, perUser: maxEventsPerAccount }
  forgetEvents(database, kept).catch((error: unknown) => {
    platform.housekeepingFailed(Housekeeping.Events)
    log.warn({ err: error }, 'old events could not be deleted')
  })
}, forgetEventsEveryMs)

// The stack takes the API for ready once it answers, so everything that may fail comes before that.
const hostsServer = await startWith('API', openHostsServer)
const server = createApiServer(app.callback())
server.listen(settings.apiPort, settings.apiHost)
await once(server, 'listening')
log.info({ host: settings.apiHost, port: settings.apiPort }, 'listening')

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.fatal({ err: error }, 'closing failed')
        process.exit(1)
      },
    )
  })
}

async function close(): Promise<void> {
  log.info({}, 'closing')
  stopping.abort()
  clearInterval(forgetting)
  clearInterval(forgettingEvents)
  await Promise.all([closeServer(server, closeGraceMs), hostsServer?.close()])
  await Promise.all([
    hostReports.close(),
    nodes.close(),
    parts.close(),
    registryHttp.close(),
    temporal.close(),
    watch.close(),
  ])
  await Promise.all([database.close(), tracer?.close()])
}

/** Opens the API for hosts on other machines, if the settings ask for it. */
async function openHostsServer() {
  if (settings.hostsAddress === undefined || files.authority === undefined || remote === undefined)
    return undefined
  const opened = await openRemoteServer({
    at: settings.hostsAddress,
    identity: remote,
    authority: files.authority,
    database,
    temporal: temporalPlace,
    secretKey: files.secretKey,
    shared: {
      settings: sharedSettings(process.env),
      keys: {
        'secret.key': Buffer.from(files.secretKey).toString('base64'),
        'join-token': files.joinToken,
        'gateway-token': files.gatewayToken,
        'registry.key': files.registryKey,
        'registry.crt': files.registryCert,
        'authority.key': files.authority.key,
        'authority.crt': files.authority.chain,
      },
    },
    registryUrl,
    ...(settings.registryBounded && { pushesAt: { host: '127.0.0.1', port: settings.registryOwnerPort } }),
    handle: app.callback(),
    nowMs: Date.now,
    log,
  })
  log.info(settings.hostsAddress, 'further hosts may join at this address')
  return opened
}

/** The pages of the console. Without them the API serves everything else. */
async function builtConsole() {
  try {
    return await readConsoleFiles(requireInstalled(readInstalled(), 'consolePages'))
  } catch (error) {
    log.warn({ err: error }, 'there is no console: set-up builds its pages')
    return undefined
  }
}

async function readConfiguration() {
  const given = readSettings(process.env)
  return {
    settings: given,
    databaseUrl: required('DATABASE_URL', given.databaseUrl),
    registryUrl: required('ROOST_REGISTRY_URL', given.registryUrl),
    files: {
      secretKey: await readSecretKey(given.secretKeyFile),
      registryKey: await readSettingFile('ROOST_REGISTRY_KEY_FILE', given.registryKeyFile),
      registryCert: await readSettingFile('ROOST_REGISTRY_CERT_FILE', given.registryCertFile),
      joinToken: await readSettingFile('ROOST_JOIN_TOKEN_FILE', given.joinTokenFile),
      gatewayToken: await readSettingFile('ROOST_GATEWAY_TOKEN_FILE', given.gatewayTokenFile),
      authority: given.hostsAddress && {
        key: await readSettingFile('ROOST_AUTHORITY_KEY_FILE', given.authorityKeyFile),
        chain: await readSettingFile('ROOST_AUTHORITY_CERT_FILE', given.authorityCertFile),
      },
    },
  }
}
