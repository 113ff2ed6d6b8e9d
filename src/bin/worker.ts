import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { Server as SecureServer, createServer as createSecureServer } from 'node:https'
import { TLSSocket } from 'node:tls'
import { pino } from 'pino'
import { createAlignmentActivities } from '../../activities/autoscale/alignment.ts'
import { createWatchActivity } from '../../activities/autoscale/watch.ts'
import { createCertificateActivities } from '../../activities/certificate/activities.ts'
import { createControlActivities } from '../../activities/control-activities.ts'
import { createHostLossActivities } from '../../activities/host/look.ts'
import { createRolloutActivities } from '../../activities/rollout/look.ts'
import { createScheduleActivities } from '../../activities/schedule/runs.ts'
import { writeRefusalProblem } from '../api/write-refusal.ts'
import { keptRollouts, keptRunLogBytes, keptRuns, maxEnvVariables } from '../contract/limits.ts'
import { createDiagnosis } from '../acme/diagnosis.ts'
import { createServiceObserver, systemTimers } from '../../activities/autoscale/service-observer.ts'
import { callInWatches } from '../../activities/autoscale/watch-calls.ts'
import { keepPresence } from '../../activities/autoscale/worker-presence.ts'
import { createSweep } from '../control/sweep.ts'
import { sweptEntities } from '../control/swept-entity.ts'
import { startSweepLoop } from '../control/sweep-loop.ts'
import { TermWatch, startTermWatch } from '../control/term-watch.ts'
import { openTemporalControl } from '../control/temporal-control.ts'
import { WorkerMetrics } from '../control/worker-metrics.ts'
import { createAuthorityAccounts } from '../db/certificate/authority-accounts.ts'
import { listAutoscaledServices, readAutoscaleMembers } from '../db/autoscale/records.ts'
import { listApiAddresses } from '../db/api-addresses.ts'
import { openDatabase } from '../db/database.ts'
import { joinedParts } from '../db/host/joining.ts'
import { listNodes } from '../db/host/hosts.ts'
import { readTerms } from '../db/host/loss.ts'
import { forgetSilentWorkers, forgetWorker, listWorkers, renewWorker } from '../db/workers.ts'
import { PlatformPart } from '../domain/platform-part.ts'
import { workerRenewalPath } from '../domain/host/control-role.ts'
import type { WriteRefusal } from '../db/refused.ts'
import { createSecretBox } from '../db/secret-box.ts'
import { readInstalled } from '../launch/installed.ts'
import { createNodeClient } from '../control/host-client.ts'
import { createPartClient } from '../control/part-client.ts'
import { configuredIssuer } from './issuer.ts'
import { freePort } from '../primitives/free-ports.ts'
import { partsHere } from '../settings/platform-ports.ts'
import {
  keptIdentity,
  readSecretKey,
  readSettingFile,
  readTemporalPlace,
  required,
  startWith,
} from '../settings/part-settings.ts'
import { readSettings } from '../settings/settings.ts'
import { logSpans } from './span-log.ts'
import { AskedIdentity, besideId } from '../trust/asked-identity.ts'
import { askForCertificate } from '../trust/certificate-request.ts'
import type { KeptIdentity } from '../trust/kept-identity.ts'
import { partConnector } from '../trust/part-connector.ts'
import { peerOf, serverTls } from '../trust/part-identity.ts'
import { openTracing } from '../tracing/tracing.ts'
import { ControlWorker } from './worker-temporal.ts'

/**
 * The most connections to PostgreSQL. Writes of states are short, so a few connections carry hundreds per
 * second.
 */
const poolSize = 10
/** How long a stop may take. Work that still runs then is repeated by the next worker. */
const stopLimitMs = 4_500

const { settings, databaseUrl, secretKey, gatewayToken } = await startWith('worker', readConfiguration)
const log = pino({ level: settings.logLevel })
logSpans(settings)
const tracer = await openTracing('worker', { env: process.env, log })
const place = await startWith('worker', () => readTemporalPlace(settings))

const database = await startWith('worker', () =>
  openDatabase({ url: databaseUrl, applicationName: 'roost-worker', poolSize }),
)
const secretBox = createSecretBox(secretKey)
const authority = await startWith('worker', () =>
  configuredIssuer(settings, createAuthorityAccounts({ database, secretBox })),
)
const { acmeResolver: resolver, diagnosisPrivate: asksPrivate } = settings
const control = openTemporalControl(place)
const metrics = new WorkerMetrics({ database, polls: () => worker.polls })
const joined = await startWith('worker', async () => await keptIdentity(settings.identityDir))
const sdkMetricsAddress = `127.0.0.1:${await freePort()}`
/** What the worker shows to hosts on other machines. Absent: there are none. */
const identity = joined ? await renewedIdentity(joined) : askedIdentity()
const parts = createPartClient({
  // On a machine that joined, they are among those that did.
  places: settings.metricsParts ?? (settings.identityDir === undefined ? partsHere(settings) : []),
  gatewayToken,
  ...(identity && {
    joined: async () => await joinedParts(database),
    ...(settings.identityDir !== undefined && { apis: async () => await listApiAddresses(database) }),
    identity: () => identity.current,
  }),
})
const nodes = createNodeClient({
  listNodes: () => listNodes({ database, secretBox }, { isElsewhere: settings.identityDir !== undefined }),
  nowMs: Date.now,
  ...(identity && { identity: () => identity.current }),
})
const observer = createServiceObserver({
  readServices: (serviceUuids) => readAutoscaleMembers(database, serviceUuids),
  readLoads: (nodeId, instanceUuids) => nodes.readLoads(nodeId, instanceUuids),
  nowMs: Date.now,
  timers: systemTimers,
  listener: {
    round: (round) => metrics.autoscale.round(round),
    decided: (kind) => metrics.autoscale.decided(kind),
    failed: (error) => log.warn({ err: error }, 'autoscaled services can not be looked at'),
  },
})
/** Nobody waits for it: if it fails, the rollout looks when its time comes. */
const lookAgain = (rolloutUuid: string): void => {
  control.rollouts
    .lookAgain(rolloutUuid)
    .catch((error: unknown) =>
      log.warn({ err: error, rollout: rolloutUuid }, 'a rollout was not told of a state'),
    )
}
const termWatch = new TermWatch({
  readTerms: () => readTerms(database),
  start: (hostId) => control.hosts.ensureStarted(hostId),
  nowMs: () => performance.now(),
  onProblem: (message, error, host) => log.warn({ err: error, ...(host !== undefined && { host }) }, message),
  onSilent: (host, unheardMs) => log.warn({ host, unheardMs }, 'a host is not heard'),
})
const refusalSentence = (refusal: WriteRefusal): string => writeRefusalProblem(refusal).message
const worker = new ControlWorker({
  place,
  activities: {
    ...metrics.countActivities(createControlActivities({ database, lookAgain, refusalSentence })),
    ...createCertificateActivities({
      database,
      secretBox,
      issuer: authority.issuer,
      directory: authority.directory,
      ...(authority.pace && { pace: authority.pace }),
      diagnosis: createDiagnosis({ asksPrivate, ...(resolver !== undefined && { resolver }) }),
      nowMs: Date.now,
    }),
    ...createScheduleActivities({
      database,
      secretBox,
      instances: control.instances,
      volumes: control.volumes,
      logs: nodes,
      refusalSentence,
      rollouts: control.rollouts,
      bounds: { keptRuns, logBytes: keptRunLogBytes, keptRollouts, variables: maxEnvVariables },
      nowMs: Date.now,
    }),
    ...createRolloutActivities({
      database,
      secretBox,
      instances: control.instances,
      hosts: nodes,
      gateways: parts,
      nowMs: Date.now,
    }),
    ...createHostLossActivities({
      database,
      watch: termWatch,
      instances: control.instances,
      volumes: control.volumes,
      refusalSentence,
      pause: (ms, signal) => delay(ms, undefined, { signal }),
    }),
  },
  autoscale: {
    activities: {
      ...createWatchActivity({ observer }),
      ...createAlignmentActivities({
        database,
        secretBox,
        instances: control.instances,
        nowMs: Date.now,
      }),
    },
    begin: bePresent,
    end: () => observer.close(),
  },
  workflowBundle: installedBundle(),
  log,
  sdkMetricsAddress,
})
worker.start()
const stopTermWatch = startTermWatch(termWatch)
const sweeps = startSweepLoop(createSweep({ entities: sweptEntities(database, control), nowMs: Date.now }), {
  onSwept(result) {
    metrics.swept(result)
    if (result.started + result.deletesSent > 0)
      log.info({ ...result }, 'the sweep mended what was left behind')
    if (result.failure !== undefined) log.warn({ err: result.failure }, 'the sweep reached no workflow')
  },
  onFailure: (error) => log.warn({ err: error }, 'the sweep could not read the database'),
})

const health = createHealthServer((request, response) => {
  void answer(request).then(
    ({ status, body }) =>
      response.writeHead(status, { 'Content-Type': 'text/plain; version=0.0.4' }).end(body),
    (error: unknown) => response.writeHead(503).end(`${String(error)}\n`),
  )
})
joined?.onChange((next) => {
  if (health instanceof SecureServer) health.setSecureContext(serverTls(next))
})
health.listen(settings.workerMetricsPort, settings.metricsHost)
await once(health, 'listening')
log.info({ port: settings.workerMetricsPort }, 'the worker runs')

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop())

/** Beside the API, the worker asks it for its certificates. */
function askedIdentity(): AskedIdentity | undefined {
  if (settings.hostsAddress === undefined) return undefined
  return new AskedIdentity({
    apiUrl: settings.apiUrl,
    token: gatewayToken,
    name: { part: PlatformPart.Worker, id: besideId() },
    onProblem: (message, error) => log.warn({ err: error }, message),
  })
}

/** On a machine that joined, the worker has a certificate, and asks for the next one with it. */
async function renewedIdentity(kept: KeptIdentity): Promise<KeptIdentity> {
  const url = new URL(workerRenewalPath, settings.apiUrl)
  await kept.keepValid(
    async () =>
      await askForCertificate(
        url,
        partConnector(() => kept.current),
      ),
    (error) => log.warn({ err: error }, 'the certificate of this worker could not be renewed yet'),
  )
  return kept
}

async function readConfiguration() {
  const given = readSettings(process.env)
  return {
    settings: given,
    databaseUrl: required('DATABASE_URL', given.databaseUrl),
    secretKey: await readSecretKey(given.secretKeyFile),
    gatewayToken: await readSettingFile('ROOST_GATEWAY_TOKEN_FILE', given.gatewayTokenFile),
  }
}

/**
 * Tells the other workers that this one runs, and has the watches of killed ones begin again in one that
 * runs.
 */
function bePresent(id: string): () => Promise<void> {
  let calls = new AbortController()
  const leave = keepPresence({
    renew: () => renewWorker(database, id),
    forgetSilent: (silentMs) => forgetSilentWorkers(database, silentMs),
    leave: () => forgetWorker(database, id),
    callIn: () => {
      // The calls that are under way do not know of the workers that are gone now.
      calls.abort()
      calls = new AbortController()
      callIn(calls.signal)
    },
    nowMs: () => performance.now(),
    timers: systemTimers,
  })
  return async () => {
    await leave()
    calls.abort()
  }
}

function callIn(signal: AbortSignal): void {
  void callInWatches({
    listServices: () => listAutoscaledServices(database),
    listWorkers: () => listWorkers(database),
    callIn: (serviceUuid, living) => control.autoscales.callInWatch(serviceUuid, living),
    timers: systemTimers,
    signal,
  }).then((count) => {
    if (count > 0) log.info({ count }, 'watches of a worker that is gone were called in')
  })
}

/** On a machine that joined, it listens with TLS. */
function createHealthServer(listener: RequestListener): Server {
  return joined === undefined
    ? createServer(listener)
    : createSecureServer(serverTls(joined.current), listener)
}

async function answer({ url, socket }: IncomingMessage): Promise<{ status: number; body: string }> {
  if (url === '/healthz') return { status: 200, body: 'ok\n' }
  if (url === '/readyz') return readiness()
  if (url !== '/metrics') return { status: 404, body: 'not here\n' }
  if (socket instanceof TLSSocket && peerOf(socket)?.part !== PlatformPart.Api)
    return { status: 403, body: 'only APIs may ask for this\n' }
  const sdk = await fetch(`http://${sdkMetricsAddress}/metrics`).then(
    (response) => response.text(),
    () => '',
  )
  return { status: 200, body: `${await metrics.text()}\n${sdk}` }
}

async function readiness(): Promise<{ readonly status: number; readonly body: string }> {
  if (!worker.polls) return { status: 503, body: 'Temporal can not be reached\n' }
  await database.check()
  return { status: 200, body: 'ok\n' }
}

function installedBundle(): string | undefined {
  try {
    return readInstalled().workflowBundle
  } catch (error) {
    log.warn({ err: error }, 'no workflow bundle from set-up; bundling now')
    return undefined
  }
}

async function stop(): Promise<void> {
  setTimeout(() => process.exit(0), stopLimitMs).unref()
  health.close()
  health.closeAllConnections()
  identity?.stop()
  stopTermWatch()
  await Promise.all([worker.stop(), sweeps.stop()])
  await Promise.all([control.close(), authority.close(), nodes.close(), parts.close(), database.close()])
  await tracer?.close()
  process.exit(0)
}
