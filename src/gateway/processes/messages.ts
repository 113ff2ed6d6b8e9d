import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client'
import type { RouteLine } from '../../domain/service/route-feed.ts'
import type { CertificatePem } from '../listeners/context-cache.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import type { TrafficOfServices } from '../service-counts.ts'

/**
 * What the main process and its serving processes say to each other, over the channel that Node gives a
 * forked process. Secrets pass only here: nobody else can read the channel, and it leaves no file.
 */

/** The messages of the main process. They arrive in the order in which they were sent. */
export type ToServing =
  /** The certificate of the metro domain from now on. */
  | { readonly kind: 'metro'; readonly certificate: CertificatePem }
  /** What the gateway shows to hosts on other machines from now on. */
  | { readonly kind: 'identity'; readonly identity: PartIdentity }
  /** The secret of session tickets from now on. */
  | { readonly kind: 'ticket-secret'; readonly secret: Uint8Array }
  /** A piece of the feed. Blocks come whole, one after the other; one block may have several pieces. */
  | { readonly kind: 'routes'; readonly lines: readonly RouteLine[] }
  /** When the API last sent a line about the routes. */
  | { readonly kind: 'heard'; readonly agoMs: number }
  /** All that is needed was told: the process may begin to listen. */
  | { readonly kind: 'listen' }
  | { readonly kind: 'metrics'; readonly ask: number }
  /** Listen no more, let everything go on for `limitMs` at most, then end. */
  | { readonly kind: 'drain'; readonly limitMs: number }
  /** End now. */
  | { readonly kind: 'end' }

/**
 * How often a serving process tells its counts of services. Prometheus rarely asks more often, and no more is
 * lost if the process is killed.
 */
export const serviceCountsEveryMs = 2_000

export type Metric = MetricObjectWithValues<MetricValueWithName<string>>

export type ToMain =
  /** The process has routes and has tried to listen on all of its ports. It is said once. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'metrics'; readonly ask: number; readonly metrics: readonly Metric[] }
  /** What was counted of each service since the process last told it. */
  | { readonly kind: 'service-counts'; readonly counts: TrafficOfServices }

/**
 * How long requests under way may take once the gateway stops. WebSockets and TCP connections have no end of
 * their own, so they are cut then.
 */
export const closeGraceMs = 1_000
/**
 * How long a serving process serves on when its main process was killed. Usually another gateway is there
 * sooner, and the supervisor sends SIGTERM then. Nobody tells the process new routes.
 */
export const aloneLimitMs = 10_000
/**
 * How long connections may go on after that. Nearly all requests end within that time. After a hand-over it
 * is longer. But a request that waits for a change of the routes waits in vain here, and its client should
 * soon send it to another gateway.
 */
export const aloneDrainMs = 5_000
/**
 * How long connections may go on after the gateway was handed over. Nearly all requests and transfers end
 * within that time, and most clients use their idle connection once more, so that they learn that it ends. A
 * longer time would keep the memory of two gateways for longer.
 */
export const handOverGraceMs = 30_000
