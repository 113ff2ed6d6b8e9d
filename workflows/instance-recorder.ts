import { proxyLocalActivities } from '@temporalio/workflow'
import type { ControlActivities } from '../activities/control-activities.ts'
import type { Lifecycle } from '../src/domain/lifecycle-state.ts'
import type { Effects } from '../src/domain/lifecycle-effects.ts'
import { projectionOf } from '../src/domain/lifecycle-projection.ts'

/**
 * PostgreSQL may be away for as long as it likes: the writes are tried for ever. Beyond `localRetryThreshold` the wait
 * is a timer of the server, so that the workflow's task is not held open and the host's work goes on.
 */
const row = proxyLocalActivities<ControlActivities>({
  startToCloseTimeout: '5s',
  localRetryThreshold: '1s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '10s' },
})

export interface Recorder {
  /** Writes the newest state unless it is written or being written. Readers may miss states, never their order. */
  align(life: Lifecycle, effects: Effects): void
  readonly recorded: number
  readonly busy: boolean
  /** The last thing that happens to an instance. */
  deleteRow(): Promise<void>
}

export function createRecorder(of: {
  readonly instanceUuid: string
  /** The revision that PostgreSQL is known to have. */
  readonly recorded: number
  readonly onDone: () => void
}): Recorder {
  const { instanceUuid } = of
  let { recorded } = of
  let busy = false
  let hidden = false

  async function write(life: Lifecycle, effects: Effects): Promise<void> {
    busy = true
    if (recorded < life.revision) {
      const { revision } = life
      await row.recordInstance({ instanceUuid, revision, projection: projectionOf(life) })
      recorded = revision
    }
    if (effects.hideRow && !hidden) {
      await row.hideInstance({ instanceUuid })
      hidden = true
    }
    busy = false
    of.onDone()
  }

  return {
    align(life, effects) {
      const behind = recorded < life.revision || (effects.hideRow && !hidden)
      if (behind && !busy) void write(life, effects)
    },
    get recorded() {
      return recorded
    },
    get busy() {
      return busy
    },
    deleteRow: () => row.deleteInstanceRow({ instanceUuid }),
  }
}
