import type { Lifecycle } from '../../src/domain/instance/lifecycle-state.ts'
import type { Effects } from '../../src/domain/instance/lifecycle-effects.ts'
import { projectionOf } from '../../src/domain/instance/lifecycle-projection.ts'
import { rowWrites } from '../row-writes.ts'

export interface Recorder {
  /**
   * Writes the newest state unless it is written or being written. Readers may miss states, never their
   * order.
   */
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
      await rowWrites.recordInstance({ instanceUuid, revision, projection: projectionOf(life) })
      recorded = revision
    }
    if (effects.hideRow && !hidden) {
      await rowWrites.hideInstance({ instanceUuid })
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
    deleteRow: () => rowWrites.deleteInstanceRow({ instanceUuid }),
  }
}
