import { Router } from '@koa/router'
import { requestError } from '../../contract/errors.ts'
import { idTakenText, isReportable, removedText } from '../../domain/host/api-protocol.ts'
import { isUuid } from '../../domain/object-name.ts'
import { wires } from '../../domain/protocols.ts'
import { TokenBuckets } from '../../domain/token-bucket.ts'
import {
  imagesInUse,
  instancesOfNode,
  isPlacedOn,
  loadLaunchSpec,
  placeOfVolume,
} from '../../db/host/instances.ts'
import { recordHeartbeat } from '../../db/host/hosts.ts'
import { isRemovedAsLost } from '../../db/host/loss.ts'
import { KnownAgents } from '../../db/host/known-agents.ts'
import type { ApiDeps } from '../deps.ts'
import { span } from '../../primitives/spans.ts'
import { hostBehind } from '../remote/admitted-hosts.ts'
import { readBody } from '../middleware/read-body.ts'
import type { RequestState } from '../request-state.ts'
import { isNodeId, requireJoinToken, requireNodeSecret } from './host-credentials.ts'
import { MeshReader } from './mesh-reader.ts'
import { parseHeartbeat, parseHostReport, parseRegistryTokenRequest } from './node-messages.ts'
import { requireVersion } from './told-version.ts'

/**
 * How many events about its upgrades one host may cause at each process of the API. An upgrade that goes back
 * causes three. A host that lies must not fill the events of administrators.
 */
const upgradeStepsRate = { perSecond: 1 / 60, burst: 12 }

/**
 * The endpoints for hosts: see `src/domain/host/api-protocol.ts`. A host sees only the instances that are
 * placed on it.
 */
export function internalRouter(deps: ApiDeps): Router<RequestState> {
  const router = new Router<RequestState>({ prefix: '/internal/nodes/:node', sensitive: true })
  const joining = requireJoinToken(deps.settings.joinToken)
  const joined = requireNodeSecret(deps)
  const spoken = requireVersion(wires.hostCalls, ({ node }) => `host '${node}'`)
  const meshReader = new MeshReader(deps)
  const { database, secretBox } = deps
  const upgradeSteps = new TokenBuckets(upgradeStepsRate)
  const mayTellUpgrade = (hostId: string) => upgradeSteps.take(hostId, performance.now())
  const heartbeats = { database, secretBox, known: new KnownAgents(), mayTellUpgrade }

  router.put('/', joining, spoken, readBody(), async (ctx) => {
    ctx.state.route = 'internal.heartbeat'
    const { firstSubnet, termMs } = deps.settings
    const hasJoined = hostBehind(ctx.req) !== undefined
    const node = { id: nodeId(ctx.params['node']), firstSubnet, joined: hasJoined }
    const heartbeat = parseHeartbeat(ctx.state.body)
    if (hasJoined && !heartbeat.agentUrl.startsWith('https:'))
      throw requestError('invalidContent', plainAgent)
    const assignment = await recordHeartbeat(heartbeats, node, heartbeat)
    if (assignment === undefined) {
      ctx.state.log.debug(
        { node: node.id },
        'a host was refused: its id belongs to an agent with another secret',
      )
      ctx.status = 403
      const isRemoved = await isRemovedAsLost(database, node.id)
      ctx.body = { message: isRemoved ? removedText(node.id) : idTakenText(node.id) }
      return
    }
    const mesh = heartbeat.mesh && (await meshReader.read())
    const isNews = mesh !== undefined && mesh.revision !== heartbeat.meshRevision
    ctx.body = { ...assignment, ...(termMs !== undefined && { termMs }), ...(isNews && { mesh }) }
  })

  routeReads(router, deps, [joined, spoken])

  router.post('/reports', joined, spoken, readBody(), async (ctx) => {
    ctx.state.route = 'internal.reports'
    const report = parseHostReport(ctx.state.body)
    const node = nodeId(ctx.params['node'])
    if (!isReportable(report)) {
      const told = { node, kind: report.kind, event: report.event.kind }
      ctx.state.log.debug(told, 'a host reported an event of a kind that is not taken')
      ctx.body = { taken: false }
      return
    }
    const isOwn = await isPlacedOn(deps.database, node, report)
    ctx.body = { taken: isOwn && (await deps.hostReports.tell(report)) }
  })

  router.post('/registry-token', joined, spoken, readBody(), async (ctx) => {
    ctx.state.route = 'internal.registry-token'
    const { repository } = parseRegistryTokenRequest(ctx.state.body)
    const images = await imagesInUse(deps.database, nodeId(ctx.params['node']))
    // A host may pull the images that it has to run, and no others.
    if (!images.some((image) => image.startsWith(`${repository}@`))) {
      throw requestError('noEndpoint', { path: ctx.path })
    }
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { token: await deps.registry.pullToken(repository) }
  })
  return router
}

/** What a host reads: its instances, with what they are launched with, and where a volume is. */
function routeReads(
  router: Router<RequestState>,
  deps: ApiDeps,
  [joined, spoken]: readonly [ReturnType<typeof requireNodeSecret>, ReturnType<typeof requireVersion>],
): void {
  router.get('/instances', joined, spoken, async (ctx) => {
    ctx.state.route = 'internal.instances'
    ctx.body = await instancesOfNode(deps.database, nodeId(ctx.params['node']))
  })

  router.get('/volumes/:uuid', joined, spoken, async (ctx) => {
    ctx.state.route = 'internal.volume'
    const uuid = ctx.params['uuid'] ?? ''
    if (!isUuid(uuid)) throw requestError('noEndpoint', { path: ctx.path })
    ctx.body = { place: await placeOfVolume(deps.database, nodeId(ctx.params['node']), uuid) }
  })

  router.get('/instances/:uuid/launch', joined, spoken, async (ctx) => {
    ctx.state.route = 'internal.launch'
    const uuid = ctx.params['uuid'] ?? ''
    const wanted = { nodeId: nodeId(ctx.params['node']), uuid }
    const load = async () => (isUuid(uuid) ? await loadLaunchSpec(deps, wanted) : undefined)
    const spec = await span(uuid, 'api: launch spec', load)
    if (spec === undefined) throw requestError('noEndpoint', { path: ctx.path })
    ctx.set('Cache-Control', 'no-store')
    ctx.body = spec
  })
}

function nodeId(text: string | undefined): string {
  if (!isNodeId(text)) throw requestError('invalidContent', nodeIdProblem)
  return text
}

/** Only over TLS a host proves that an address is its own, and not one that it wants to have called. */
const plainAgent = {
  name: 'agentUrl',
  place: 'the heartbeat',
  reason: 'the agent of a host that joined has to be at an address with https',
}
const nodeIdProblem = { name: 'node', place: 'the path', reason: 'it is no identifier of a node' }
