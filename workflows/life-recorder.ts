/** Writes what readers see of a life. */
export interface LifeRecorder<Life> {
  /**
   * Writes the newest state unless it is written or being written. Readers may miss states, never their
   * order.
   */
  align(life: Life): void
  readonly recorded: number
  readonly busy: boolean
}

export function createLifeRecorder<Life extends { readonly revision: number }>(of: {
  /** The revision that PostgreSQL is known to have. */
  readonly recorded: number
  readonly write: (life: Life) => Promise<void>
  readonly onDone: () => void
}): LifeRecorder<Life> {
  let { recorded } = of
  let busy = false

  async function write(life: Life): Promise<void> {
    busy = true
    await of.write(life)
    recorded = life.revision
    busy = false
    of.onDone()
  }

  return {
    align(life) {
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
