import type { Routes } from '../routes.ts'
import type { Tracer } from '../../primitives/traces.ts'
import type { Traffic } from '../traffic.ts'
import type { HttpLimits } from './http-limits.ts'
import type { RequestObserver } from './request-observer.ts'
import type { Sweep } from './sweep.ts'
import type { UpstreamPools } from './upstream/upstream-pool.ts'

/** The parts of a front that each of its requests needs. */
export interface FrontParts {
  readonly routes: Routes
  readonly traffic: Traffic
  readonly observer: RequestObserver | undefined
  readonly serverTiming: boolean
  /** Set if requests are traced. */
  readonly tracer: Tracer | undefined
  readonly limits: HttpLimits
  readonly pools: UpstreamPools
  readonly sweep: Sweep
  /** Called on a fault of the gateway itself; the client was answered 500. */
  readonly onError: (error: unknown) => void
}
