import type { InstanceAdmission } from '../../src/gateway/balance/instance-admission.ts'
import type { SimGateway } from './gateway.ts'

/** How a request or connection ended. For `refused` and `broken`, `Watch` looks for an excuse. */
export type Outcome =
  | { readonly kind: 'answered'; readonly boot: number }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'broken'; readonly why: string }
  /** The client itself went away. */
  | { readonly kind: 'aborted' }

/** One request or connection of one client. */
export interface Trip {
  readonly id: number
  readonly kind: 'request' | 'connection'
  readonly gateway: SimGateway
  readonly startedMs: number
  admission: InstanceAdmission | undefined
  admittedMs: number
  /** Whether data of this trip is between gateway and application, or in the application. */
  inFlight: boolean
  /**
   * Whether the instance went to standby during this trip although the trip still needed it. The host may do
   * so if it has not heard the gateway for `leaseKeptMs`.
   */
  givenUp: boolean
  /** The boots whose application got the request. */
  readonly answeredBy: Set<number>
  outcome: Outcome | undefined
}
