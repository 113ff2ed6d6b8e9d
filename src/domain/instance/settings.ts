import type { Asker } from '../event/asker.ts'
import type { ConfigurationVersion } from './configuration.ts'
import type { RecordedLife } from './lifecycle-continuation.ts'
import type { RestartPolicy } from './restart-policy.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'

/**
 * The input with which the workflow of an instance is started if it does not run. It has identifiers only, no
 * environment.
 */
export interface InstanceSettings {
  readonly instanceUuid: string
  /** The user's name for the instance, for people who look at the workflow. */
  readonly name: string
  readonly userUuid: string
  readonly nodeId: string
  readonly autostart: boolean
  readonly deleteOnStop: boolean
  readonly restartPolicy: RestartPolicy
  /**
   * When the instance goes to standby. If it is absent, scale-to-zero is off, as in workflows that began
   * before standby existed.
   */
  readonly scaleToZero?: ScaleToZero
  /** The version of these settings. Absent before the first change. */
  readonly config?: ConfigurationVersion
  /** Who created the instance. Absent if the workflow is started later than by the create itself. */
  readonly asker?: Asker
  /**
   * The life that the row records, if an earlier workflow wrote one. It counts only if that workflow was
   * terminated: the new workflow continues from it.
   */
  readonly recorded?: RecordedLife
}
