import { setTimeout as delay } from 'node:timers/promises'
import { sweepIntervalMs } from './sweep.ts'
import type { SweepResult } from './sweep.ts'

export interface SweepLoop {
  /** Ends the loop. Resolves once the sweep that is under way is over. */
  stop(): Promise<void>
}

/**
 * Sweeps as long as the process lives, one sweep at a time. Each sweep ends with a call of `onSwept` or
 * `onFailure`.
 */
export function startSweepLoop(
  sweep: () => Promise<SweepResult>,
  tell: { readonly onSwept: (result: SweepResult) => void; readonly onFailure: (error: unknown) => void },
): SweepLoop {
  const stopping = new AbortController()
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        tell.onSwept(await sweep())
      } catch (error) {
        tell.onFailure(error)
      }
      await delay(sweepIntervalMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const ended = loop()
  return {
    stop() {
      stopping.abort()
      return ended
    },
  }
}
