import type {
  RouteCertificate,
  RouteChallenge,
  RouteInstance,
  RouteLine,
  RouteNode,
  RouteService,
} from '../domain/service/route-feed.ts'

/**
 * The gateway's view of the world, as the feed last told it. Reads are synchronous and cost a map look-up.
 */
export interface Routes {
  /**
   * Finds a service by its exact name, else by the longest wildcard. `host` is lower case, without port and
   * final dot.
   */
  serviceOf(host: string): RouteService | undefined
  service(uuid: string): RouteService | undefined
  services(): Iterable<RouteService>
  instancesOf(serviceUuid: string): readonly RouteInstance[]
  instance(uuid: string): RouteInstance | undefined
  node(id: string): RouteNode | undefined
  nodes(): Iterable<RouteNode>
  certificate(uuid: string): RouteCertificate | undefined
  challenge(token: string): RouteChallenge | undefined
  challenges(): Iterable<RouteChallenge>
  /** Called after every applied block with what it changed. What a snapshot took away counts as changed. */
  onChange(listener: (change: RouteChange) => void): () => void
}

export interface RouteChange {
  readonly services: ReadonlySet<string>
  readonly instances: ReadonlySet<string>
  readonly nodes: ReadonlySet<string>
  readonly certificates: ReadonlySet<string>
  readonly challenges: ReadonlySet<string>
  /** Metro domains whose certificate is another one. */
  readonly metros: ReadonlySet<string>
}

/** What applies lines to a table. Lines between `begin` and `end` take effect together, with `end`. */
export interface RouteSink {
  apply(line: RouteLine): void
  /** The revision of the last `end`. It is absent before the first one. */
  readonly revision: string | undefined
}
