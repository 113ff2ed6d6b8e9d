import { MeshError } from './mesh-error.ts'
import { parseJson } from '../../domain/json-text.ts'

/**
 * Begins the metrics of the routes that catch packets while the tunnel is gone. They are so high that every
 * other route wins.
 */
const firstCatchMetric = 0xf0000000

/** The metric by which an agent knows its own routes of this kind. The hash of its directory decides it. */
export function catchMetric(hash: string): number {
  return firstCatchMetric + Number.parseInt(hash, 16)
}

/**
 * The metric of a route into the tunnel for a single address. When an instance moves here with its address,
 * this host is told of it a moment after it has begun. Until then the route of the host's own bridge, which
 * has no metric, comes first.
 */
const addressMetric = 1

/** A route as `ip -j route` prints it. */
interface Route {
  readonly dst: string
  readonly prefsrc?: string
  readonly metric?: number
}

/** Commands for `ip -batch`, and what they do in words. */
export interface RouteChanges {
  readonly commands: readonly string[]
  readonly what: readonly string[]
}

/**
 * The changes of the routes into the tunnel. `json` is what `ip` prints of the interface's routes. Packets of
 * the machine itself into the tunnel come from the address `source`.
 */
export function tunnelRouteChanges(
  networks: readonly string[],
  { interfaceName, source }: { readonly interfaceName: string; readonly source: string },
  json: string,
): RouteChanges {
  const wanted = new Set(networks)
  const isRight = ({ dst, prefsrc, metric }: Route) =>
    wanted.has(fullText(dst)) && prefsrc === source && metric === metricOf(fullText(dst))
  const [right, wrong] = [readRoutes(json).filter(isRight), readRoutes(json).filter((one) => !isRight(one))]
  const there = new Set(right.map(({ dst }) => fullText(dst)))
  const missing = networks.filter((network) => !there.has(network))
  return {
    commands: [
      ...wrong.map(({ dst }) => `route del ${dst} dev ${interfaceName}`),
      ...missing.map(
        (network) => `route add ${network} dev ${interfaceName} src ${source}${metricText(network)}`,
      ),
    ],
    what: [
      ...wrong.map(({ dst }) => `removed the route to ${dst}`),
      ...missing.map((network) => `added the route to ${network}`),
    ],
  }
}

/**
 * The changes of the routes by which a network is unreachable. Each network of the mesh has one, below its
 * route into the tunnel. It stays if the tunnel's process ends, and the route into the tunnel goes with it.
 * Without it, open connections would send their data over the machine's default route then, and anybody on
 * the way could read it. `json` is what `ip` prints of all routes of this type.
 */
export function catchRouteChanges(networks: readonly string[], metric: number, json: string): RouteChanges {
  const ours = readRoutes(json).filter((route) => route.metric === metric)
  const there = new Set(ours.map(({ dst }) => fullText(dst)))
  const missing = networks.filter((network) => !there.has(network))
  const wanted = new Set(networks)
  const needless = [...there].filter((network) => !wanted.has(network))
  return {
    commands: [
      ...missing.map((network) => `route add unreachable ${network} metric ${String(metric)}`),
      ...needless.map((network) => `route del unreachable ${network} metric ${String(metric)}`),
    ],
    what: [
      ...missing.map((network) => `kept packets to ${network} from leaving unencrypted`),
      ...needless.map((network) => `forgot the network ${network}`),
    ],
  }
}

function metricOf(network: string): number | undefined {
  return network.endsWith('/32') ? addressMetric : undefined
}

function metricText(network: string): string {
  const metric = metricOf(network)
  return metric === undefined ? '' : ` metric ${String(metric)}`
}

function readRoutes(json: string): readonly Route[] {
  const routes = json.trim() === '' ? [] : parseJson(json)
  if (!Array.isArray(routes)) throw new MeshError(`ip printed no list of routes but ${json.slice(0, 200)}`)
  return routes as readonly Route[]
}

/** `ip` prints a single address without its prefix length. */
function fullText(network: string): string {
  return network.includes('/') ? network : `${network}/32`
}
