import type { InstanceOrders } from '../instance-orders.ts'
import type { CreateInstancesDeps } from '../../src/db/instance/create.ts'
import type { WriteRefusal } from '../../src/db/refused.ts'
import type { LogWindow } from '../../src/domain/host/api-protocol.ts'
import type { RolloutSettings } from '../../src/domain/rollout/settings.ts'
import type { VolumeSettings } from '../../src/domain/volume/settings.ts'

export interface ScheduleRunDeps extends CreateInstancesDeps {
  readonly instances: InstanceOrders
  readonly volumes: { ensureStarted(settings: VolumeSettings): Promise<void> }
  readonly logs: InstanceLogs
  readonly rollouts: RolloutOrders
  /** The sentence for the user that says why an instance was not made. */
  readonly refusalSentence: (refusal: WriteRefusal) => string
  readonly bounds: RunBounds
  readonly nowMs: () => number
}

export interface RunBounds {
  /** How many runs of each schedule are kept. */
  readonly keptRuns: number
  /** How much of the end of a log is kept. */
  readonly logBytes: number
  /** How many rollouts of each service are kept. */
  readonly keptRollouts: number
  /** The most variables of one instance. */
  readonly variables: number
}

/** The calls to workflows of rollouts. `RolloutControl` in `src/control` says what each call does. */
export interface RolloutOrders {
  ensureStarted(settings: RolloutSettings): Promise<void>
  lookAgain(rolloutUuid: string): Promise<void>
}

/** The logs that the hosts keep. */
export interface InstanceLogs {
  /** Throws if the host does not answer. */
  readLog(
    instance: { readonly uuid: string; readonly nodeId: string },
    window: { readonly offset: number; readonly limit: number },
  ): Promise<LogWindow>
}
