import { Router } from '@koa/router'
import type { Context } from 'koa'
import { requestError } from '../../contract/errors.ts'
import type { SharedGatewaySettings } from '../../domain/host/gateway-role.ts'
import { wires } from '../../domain/protocols.ts'
import { readFeed } from '../../db/service/feed-read.ts'
import { GatewayPlace, nameLine, routeLine } from '../../db/service/feed-routes.ts'
import { SharedNames } from '../../db/service/shared-names.ts'
import { routesQuery } from '../../db/sql/feed.ts'
import { Counts } from '../../primitives/counts.ts'
import type { ApiDeps } from '../deps.ts'
import type { RequestState } from '../request-state.ts'
import { gatewayBehind } from '../remote/admitted-hosts.ts'
import { tellFeed } from './feed-stream.ts'
import type { FeedSource } from './feed-stream.ts'
import { requireGateway, requireNodeSecret } from './host-credentials.ts'
import { requireVersion } from './told-version.ts'

/**
 * The largest number of readers of routes at one API process, and in the next line of readers of names for
 * each host. There are a few gateways, and one reader of names per host. A reader that was cut off without
 * notice keeps its place until TCP ends its connection.
 */
const maxRouteReaders = 64
const maxReadersPerNode = 8
/**
 * How much each reader of names adds to the time between two reads of each. They share the query, but a
 * change of one name may concern all of them, and each of them is written a block of its own. So all
 * together write 250 blocks per second at most, and with 200 hosts a name is seen within 0.8 s.
 */
const gapMsPerNamesReader = 4

/**
 * The feeds that gateways and hosts read: see `src/domain/service/route-feed.ts`. Each answer lasts until the
 * process stops.
 */
export function feedRouter(deps: ApiDeps): Router<RequestState> {
  const router = new Router<RequestState>({ prefix: '/internal', sensitive: true })
  const readers = new Readers()
  const names = new SharedNames(deps.database)

  const routesSpoken = requireVersion(wires.routes, () => 'the gateway')
  router.get('/gateway/routes', requireGateway(deps.settings.gatewayToken), routesSpoken, async (ctx) => {
    ctx.state.route = 'internal.routes'
    const place = gatewayBehind(ctx.req) === undefined ? GatewayPlace.Beside : GatewayPlace.Elsewhere
    const source: FeedSource = {
      read: (since) => readFeed(deps.database, routesQuery, since),
      line: (row) => routeLine(deps.secretBox, row, place),
      onChange: (wake) => deps.watch.onFeed('routes', wake),
    }
    await readers.within({ key: 'routes', max: maxRouteReaders }, () => tell(deps, ctx, source))
  })

  router.get('/gateway/settings', requireGateway(deps.settings.gatewayToken), (ctx) => {
    ctx.state.route = 'internal.gateway-settings'
    const { metroDomain, publicPorts, registryBounded } = deps.settings
    const shared: SharedGatewaySettings = { metroDomain, portOffset: publicPorts.offset, registryBounded }
    ctx.body = shared
  })

  const namesSpoken = requireVersion(wires.names, ({ node }) => `host '${node}'`)
  router.get('/nodes/:node/names', requireNodeSecret(deps), namesSpoken, async (ctx) => {
    ctx.state.route = 'internal.names'
    const node = String(ctx.params['node'])
    const source: FeedSource = {
      read: (since) => names.read(node, since),
      line: nameLine,
      onChange: (wake) => deps.watch.onFeed('names', wake),
      gapMs: () => gapMsPerNamesReader * readers.of('names'),
    }
    await readers.within({ key: `names ${node}`, max: maxReadersPerNode }, async () => {
      await readers.within({ key: 'names', max: Infinity }, () => tell(deps, ctx, source))
    })
  })
  return router
}

/** Sends the feed. From its first line on, the answer is written piece by piece, without Koa. */
async function tell(deps: ApiDeps, ctx: Context, source: FeedSource): Promise<void> {
  const since = new URLSearchParams(ctx.querystring).get('since') ?? undefined
  try {
    await tellFeed(ctx.res, source, {
      since,
      stopping: deps.stopping,
      ...(deps.settings.feedTimes === undefined ? {} : { times: deps.settings.feedTimes }),
    })
  } finally {
    if (ctx.res.headersSent) ctx.respond = false
  }
}

/** Counts readers by key, and refuses more than `max`. */
class Readers {
  readonly #counts = new Counts()

  of(key: string): number {
    return this.#counts.of(key)
  }

  async within(
    { key, max }: { readonly key: string; readonly max: number },
    work: () => Promise<void>,
  ): Promise<void> {
    if (this.#counts.of(key) >= max) throw requestError('unavailable')
    this.#counts.add(key)
    try {
      await work()
    } finally {
      this.#counts.remove(key)
    }
  }
}
