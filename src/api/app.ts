import Koa from 'koa'
import { Router } from '@koa/router'
import { maxStreams } from '../contract/limits.ts'
import { operations } from '../contract/operations.ts'
import type { OperationId, Operations } from '../contract/operations.ts'
import type { Operation } from '../contract/operation.ts'
import { apiName, consoleName } from '../domain/service/public-address.ts'
import type { Handler } from './call.ts'
import { ChangePace } from './change-pace.ts'
import { consolePages } from './console/pages.ts'
import { sessionRouter } from './console/session-endpoints.ts'
import type { ApiDeps } from './deps.ts'
import { feedRouter } from './internal/feed-endpoints.ts'
import { partsBesideRouter } from './internal/parts-beside.ts'
import { metroRouter, partRouter } from './internal/part-endpoints.ts'
import { internalRouter } from './internal/node-endpoints.ts'
import { refuseAbsentEndpoints } from './middleware/absent-endpoint.ts'
import { accessLog } from './middleware/access-log.ts'
import { authenticate } from './middleware/authenticate.ts'
import { below } from './middleware/below.ts'
import { concurrencyLimit } from './middleware/concurrency-limit.ts'
import { errorEnvelope } from './middleware/error-envelope.ts'
import { jsonText } from './middleware/json-text.ts'
import { publishedPaths } from './middleware/published-paths.ts'
import { rateLimit } from './middleware/rate-limit.ts'
import { readBody } from './middleware/read-body.ts'
import { requestId } from './middleware/request-id.ts'
import { requestTrace } from './middleware/request-trace.ts'
import { requestMetrics } from './middleware/request-metrics.ts'
import { operationEndpoint } from './operation-endpoint.ts'
import type { RequestState } from './request-state.ts'
import { autoscaleCreate } from './autoscale/create.ts'
import { autoscaleDelete } from './autoscale/delete.ts'
import { autoscaleExplain } from './autoscale/explain.ts'
import { autoscaleStatus } from './autoscale/status.ts'
import { autoscaleTry } from './autoscale/try.ts'
import { certificatesCreate } from './certificate/create.ts'
import { certificatesDelete } from './certificate/delete.ts'
import { certificatesExplain } from './certificate/explain.ts'
import { certificatesList } from './certificate/list.ts'
import { certificatesStatus } from './certificate/status.ts'
import { certificatesUpdate } from './certificate/update.ts'
import { eventsList } from './event/list.ts'
import { StreamPlaces } from './stream-places.ts'
import { eventsStream } from './event/stream.ts'
import { imagesList } from './image/list.ts'
import { imagesStatus } from './image/status.ts'
import { healthzRouter } from './healthz.ts'
import { hostsBalance } from './host/balance.ts'
import { hostsUse } from './host/cordon.ts'
import { HostUse } from '../domain/host/use.ts'
import { hostsDelete } from './host/delete.ts'
import { hostsExplain } from './host/explain.ts'
import { invitationsDelete, invitationsStatus } from './host/invitations.ts'
import { hostsInvite } from './host/invite.ts'
import { hostsLabel } from './host/label.ts'
import { hostsStatus } from './host/status.ts'
import { instancesCreate } from './instance/create.ts'
import { instancesDelete } from './instance/delete.ts'
import { instancesConnect } from './instance/connect.ts'
import { programPlaces } from './instance/exec-places.ts'
import { instancesArchive, instancesExec } from './instance/exec.ts'
import { instancesExplain } from './instance/explain.ts'
import { instancesList } from './instance/list.ts'
import { instancesLog } from './instance/log.ts'
import { instancesMetrics } from './instance/metrics.ts'
import { instancesUsage } from './instance/usage-history.ts'
import { instancesStart } from './instance/start.ts'
import { instancesStatus } from './instance/status.ts'
import { instancesStop } from './instance/stop.ts'
import { instancesMove } from './instance/move.ts'
import { instancesSuspend } from './instance/suspend.ts'
import { instancesUpdate } from './instance/update.ts'
import { instancesWait } from './instance/wait.ts'
import { platformRouter } from './platform.ts'
import { prometheusRouter } from './prometheus.ts'
import { policiesAdd } from './autoscale/policies-add.ts'
import { policiesDelete } from './autoscale/policies-delete.ts'
import { policiesStatus } from './autoscale/policies-status.ts'
import { servicesCreate } from './service/create.ts'
import { servicesDelete } from './service/delete.ts'
import { servicesExplain } from './service/explain.ts'
import { servicesList } from './service/list.ts'
import { servicesMetrics } from './service/metrics.ts'
import { servicesUsage } from './service/usage-history.ts'
import { servicesStatus } from './service/status.ts'
import { servicesUpdate } from './service/update.ts'
import { tokensCreate } from './account/tokens-create.ts'
import { tokensDelete } from './account/tokens-delete.ts'
import { tokensList } from './account/tokens-list.ts'
import { tokensStatus } from './account/tokens-status.ts'
import { installation } from './account/installation.ts'
import { usersCreate } from './account/users-create.ts'
import { usersQuotas } from './account/quotas.ts'
import { usersSetQuotas } from './account/users-set-quotas.ts'
import { usersStatus } from './account/users-status.ts'
import { rolloutsCreate } from './rollout/create.ts'
import { rolloutsList } from './rollout/list.ts'
import { servicesRollback } from './rollout/recall.ts'
import { schedulesCreate } from './schedule/create.ts'
import { schedulesDelete } from './schedule/delete.ts'
import { schedulesExplain } from './schedule/explain.ts'
import { schedulesList } from './schedule/list.ts'
import { schedulesRuns } from './schedule/runs.ts'
import { schedulesStatus } from './schedule/status.ts'
import { schedulesTrigger } from './schedule/trigger.ts'
import { schedulesUpdate } from './schedule/update.ts'
import { volumesAttach } from './volume/attach.ts'
import { volumesCreate } from './volume/create.ts'
import { volumesDelete } from './volume/delete.ts'
import { volumesDetach } from './volume/detach.ts'
import { volumesExplain } from './volume/explain.ts'
import { volumesList } from './volume/list.ts'
import { volumesStatus } from './volume/status.ts'

/** The handlers of schedules. */
function scheduleHandlers(deps: ApiDeps) {
  return {
    createSchedules: schedulesCreate(deps),
    getSchedules: schedulesStatus(deps),
    updateSchedules: schedulesUpdate(deps),
    deleteSchedules: schedulesDelete(deps),
    listSchedules: schedulesList(deps),
    triggerSchedules: schedulesTrigger(deps),
    getScheduleRuns: schedulesRuns(deps),
    explainSchedules: schedulesExplain(deps),
  } satisfies Partial<{ readonly [Id in OperationId]: Handler<Operations[Id]> }>
}

/** The handlers of rollouts. */
function rolloutHandlers(deps: ApiDeps) {
  return {
    createRollouts: rolloutsCreate(deps),
    getRollouts: rolloutsList(deps),
    rollBackServices: servicesRollback(deps),
  } satisfies Partial<{ readonly [Id in OperationId]: Handler<Operations[Id]> }>
}

/** The handlers of hosts. */
function hostHandlers(deps: ApiDeps) {
  return {
    getHosts: hostsStatus(deps),
    getBalance: hostsBalance(deps),
    explainHosts: hostsExplain(deps),
    cordonHosts: hostsUse(deps, HostUse.Cordoned),
    uncordonHosts: hostsUse(deps, HostUse.Open),
    drainHosts: hostsUse(deps, HostUse.Draining),
    labelHosts: hostsLabel(deps),
    inviteHosts: hostsInvite(deps),
    getHostInvitations: invitationsStatus(deps),
    deleteHostInvitations: invitationsDelete(deps),
    deleteHosts: hostsDelete(deps),
  } satisfies Partial<{ readonly [Id in OperationId]: Handler<Operations[Id]> }>
}

/** One handler for each operation of the table. An operation without one does not compile. */
function handlersOf(deps: ApiDeps): { readonly [Id in OperationId]: Handler<Operations[Id]> } {
  const places = new StreamPlaces(maxStreams)
  const programs = programPlaces()
  return {
    createInstances: instancesCreate(deps),
    getInstances: instancesStatus(deps),
    deleteInstances: instancesDelete(deps),
    listInstances: instancesList(deps),
    startInstances: instancesStart(deps),
    stopInstances: instancesStop(deps),
    suspendInstances: instancesSuspend(deps),
    moveInstances: instancesMove(deps),
    updateInstances: instancesUpdate(deps),
    waitInstances: instancesWait(deps),
    getInstanceLogs: instancesLog(deps, places),
    execInstances: instancesExec(deps, programs),
    archiveInstances: instancesArchive(deps, programs),
    connectInstances: instancesConnect(deps),
    getInstanceMetrics: instancesMetrics(deps),
    getInstanceUsage: instancesUsage(deps),
    explainInstances: instancesExplain(deps),
    createServices: servicesCreate(deps),
    getServices: servicesStatus(deps),
    updateServices: servicesUpdate(deps),
    deleteServices: servicesDelete(deps),
    listServices: servicesList(deps),
    explainServices: servicesExplain(deps),
    getServiceMetrics: servicesMetrics(deps),
    getServiceUsage: servicesUsage(deps),
    ...rolloutHandlers(deps),
    createAutoscale: autoscaleCreate(deps),
    getAutoscale: autoscaleStatus(deps),
    deleteAutoscale: autoscaleDelete(deps),
    explainAutoscale: autoscaleExplain(deps),
    tryAutoscale: autoscaleTry(deps),
    addAutoscalePolicies: policiesAdd(deps),
    getAutoscalePolicies: policiesStatus(deps),
    deleteAutoscalePolicies: policiesDelete(deps),
    createCertificates: certificatesCreate(deps),
    getCertificates: certificatesStatus(deps),
    updateCertificates: certificatesUpdate(deps),
    deleteCertificates: certificatesDelete(deps),
    listCertificates: certificatesList(deps),
    explainCertificates: certificatesExplain(deps),
    createVolumes: volumesCreate(deps),
    getVolumes: volumesStatus(deps),
    deleteVolumes: volumesDelete(deps),
    attachVolumes: volumesAttach(deps),
    detachVolumes: volumesDetach(deps),
    listVolumes: volumesList(deps),
    explainVolumes: volumesExplain(deps),
    listImages: imagesList(deps),
    getImages: imagesStatus(deps),
    getQuotas: usersQuotas(deps),
    getUsers: usersStatus(deps),
    createUsers: usersCreate(deps),
    setUserQuotas: usersSetQuotas(deps),
    getInstallation: installation(deps),
    listEvents: eventsList(deps),
    followEvents: eventsStream(deps, places),
    createTokens: tokensCreate(deps),
    getTokens: tokensStatus(deps),
    deleteTokens: tokensDelete(deps),
    listTokens: tokensList(deps),
    ...hostHandlers(deps),
    ...scheduleHandlers(deps),
  }
}

/** The whole API as a Koa application, without a server around it. */
export function createApp(deps: ApiDeps): Koa<RequestState> {
  const app = new Koa<RequestState>()
  const { metroDomain } = deps.settings
  app.use(requestId(deps.log))
  app.use(requestTrace(deps.tracer))
  app.use(accessLog())
  app.use(requestMetrics(deps.metrics))
  app.use(jsonText())
  app.use(errorEnvelope(deps.database))
  app.use(publishedPaths([apiName(metroDomain), consoleName(metroDomain)]))
  app.use(platformRouter(deps).routes())
  app.use(below(['/console/session'], readBody()))
  app.use(sessionRouter(deps).routes())
  app.use(consolePages(deps.consoleFiles, consoleName(metroDomain)))
  app.use(internalRouter(deps).routes())
  app.use(feedRouter(deps).routes())
  app.use(partRouter(deps).routes())
  app.use(partsBesideRouter(deps).routes())
  app.use(metroRouter(deps).routes())
  // A client without a valid token learns nothing about these paths, not even which of them exist.
  const forTokens = ['/v1', '/platform']
  app.use(below(forTokens, authenticate(deps)))
  app.use(
    below(
      forTokens,
      rateLimit({ rate: deps.settings.rate, refused: deps.metrics.rateLimited, nowMs: deps.nowMs }),
    ),
  )
  app.use(below(forTokens, concurrencyLimit()))
  app.use(prometheusRouter(deps).routes())
  app.use(healthzRouter(deps).routes())
  app.use(below(['/v1'], refuseAbsentEndpoints()))
  app.use(below(['/v1'], readBody()))
  app.use(operationRouter(deps).routes())
  // Koa reports here that it could not send an answer. The client has closed the connection by then.
  app.on('error', (error: unknown) => deps.log.debug({ err: error }, 'the answer could not be sent'))
  return app
}

function operationRouter(deps: ApiDeps): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true })
  const handlers = handlersOf(deps)
  const table = Object.values(operations) as readonly Operation[]
  const { nowMs, settings, stopping } = deps
  const changePace = new ChangePace({ perMinute: settings.changesPerMinute, nowMs })
  const endpoints = table.map((operation) => ({
    operation,
    endpoint: operationEndpoint(operation, handlers[operation.id as OperationId] as Handler<Operation>, {
      changePace,
      settings,
      stopping,
    }),
  }))
  // Fixed paths come first: `/v1/instances/list` is not an instance called `list`.
  for (const { operation, endpoint } of endpoints) {
    router.register(routePath(operation.path), [operation.method], endpoint)
  }
  for (const { operation, endpoint } of endpoints) {
    if (operation.localPath === undefined) continue
    router.register(routePath(operation.localPath), [operation.method], endpoint)
  }
  return router
}

/** Writes `{object}` in the router's form, `:object`. */
function routePath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}
