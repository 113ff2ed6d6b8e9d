import type { Asker } from '../event/asker.ts'
import type { ConfigurationVersion } from './configuration.ts'
import { StartOrigin } from './lifecycle-state.ts'
import type { Lifecycle } from './lifecycle-state.ts'
import type { RestartPolicy } from './restart-policy.ts'
import { mayStandBy } from '../standby/scale-to-zero.ts'
import type { ScaleToZero } from '../standby/scale-to-zero.ts'
import { InstanceState } from './state.ts'

/** The settings of an instance when its workflow begins. */
export interface LifecycleRules {
  readonly autostart: boolean
  readonly deleteOnStop: boolean
  readonly restartPolicy: RestartPolicy
  readonly scaleToZero?: ScaleToZero
  /** The host that its row names. */
  readonly nodeId?: string
  /** Who created the instance. */
  readonly asker?: Asker
  /** The version of these rules. Absent before the first change. */
  readonly config?: ConfigurationVersion
}

/** The life before the first decision. Its revision is 0, as in the row when it is inserted. */
export function unstarted(rules: LifecycleRules): Lifecycle {
  const { scaleToZero, asker, config } = rules
  return {
    ...(config === undefined ? {} : { config: { ...config, hostVersion: 0 } }),
    ...(asker === undefined ? {} : { asker }),
    ...(scaleToZero !== undefined && mayStandBy(scaleToZero) ? { scaleToZero } : {}),
    restartPolicy: rules.restartPolicy,
    deleteOnStop: rules.deleteOnStop,
    state: InstanceState.Stopped,
    revision: 0,
    boot: 0,
    startOrigin: StartOrigin.User,
    startTries: 0,
    startCount: 0,
    restartCount: 0,
    restartAttempt: 0,
    uptimeMs: 0,
  }
}
