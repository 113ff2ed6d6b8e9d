import type { RecordedLife } from './lifecycle-continuation.ts'
import type { RestartPolicy } from './restart-policy.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'

/** What the workflow of an instance is started with, should it not run. Identifiers only, no environment. */
export interface InstanceSettings {
  readonly instanceUuid: string
  /** What its user calls it: for people who look at its workflow. */
  readonly name: string
  readonly userUuid: string
  readonly nodeId: string
  readonly autostart: boolean
  readonly deleteOnStop: boolean
  readonly restartPolicy: RestartPolicy
  /** Absent: off, as in workflows that began before there was standby. */
  readonly scaleToZero?: ScaleToZero
  /**
   * What the row says, where a workflow wrote it. It counts only for a run that begins anew: the instance's
   * workflow was terminated, and this one goes on from there.
   */
  readonly recorded?: RecordedLife
}
