import type { News } from '../src/domain/event/news.ts'
import type { EntityLoop, LoopPart } from './entity.ts'

/**
 * Writes the projection of a life into the row, for readers. There is one write at a time, always of the
 * newest state. So readers may miss some states, but see the others in the right order. The news of all
 * states are written, each with the first write after it.
 */
export interface EntityRecorder<Life> extends LoopPart<Life> {
  /** The revision that PostgreSQL is known to have. */
  readonly recorded: number
}

export function createEntityRecorder<Life extends { readonly revision: number }, Event>(
  loop: EntityLoop<Life, Event>,
  of: {
    readonly recorded: number
    readonly write: (life: Life, news: readonly News[]) => Promise<void>
  },
): EntityRecorder<Life> {
  let { recorded } = of
  let busy = false

  async function write(life: Life): Promise<void> {
    busy = true
    await of.write(life, loop.takeNews())
    recorded = life.revision
    busy = false
    loop.lookAgain()
  }

  return {
    follow(life) {
      if (recorded < life.revision && !busy) void write(life)
    },
    get recorded() {
      return recorded
    },
    get busy() {
      return busy
    },
  }
}
