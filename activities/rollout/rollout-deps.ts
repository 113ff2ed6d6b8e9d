import type { InstanceOrders } from '../instance-orders.ts'
import type { CreateInstancesDeps } from '../../src/db/instance/create.ts'
import type { Asker } from '../../src/domain/event/asker.ts'
import type { InstanceSettings } from '../../src/domain/instance/settings.ts'
import type { CheckResult, InstanceCheck } from '../../src/domain/rollout/check.ts'
import type { TrafficAnswer } from '../../src/domain/service/service-traffic.ts'

export interface RolloutDeps extends CreateInstancesDeps {
  readonly instances: RolloutOrders
  readonly hosts: InstanceChecks
  readonly gateways: TrafficCounts
  readonly nowMs: () => number
}

/** The calls to workflows of instances. */
export interface RolloutOrders extends InstanceOrders {
  retire(settings: InstanceSettings, drainMs: number, requestId: string, asker: Asker): Promise<void>
}

/** The checks that hosts make of their instances. */
export interface InstanceChecks {
  /** Throws if the host does not answer. */
  checkInstance(
    instance: { readonly uuid: string; readonly nodeId: string },
    check: InstanceCheck,
  ): Promise<CheckResult>
}

/** What gateways counted. */
export interface TrafficCounts {
  /** Gateways that do not answer are left out, and told to `onSilent`. */
  readTraffic(
    uuids: readonly string[],
    onSilent: (error: Error) => void,
  ): Promise<readonly ({ readonly gateway: string } & TrafficAnswer)[]>
}
