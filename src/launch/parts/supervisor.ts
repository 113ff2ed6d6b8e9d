import { PlatformEnd } from '../end-signals.ts'
import type { RunningPart } from '../platform.ts'

/**
 * Runs the parts of a platform, each in a process of its own.
 *
 * `start` starts the parts one after another, each only when the one before is ready. It fails if a part
 * ends before it is ready. After that, a part that ends is started again with back-off, for ever. `stop`
 * ends the parts in the reverse order. A part that has not ended after `stopLimitMs` is killed, so that no
 * process is left behind but virtual machines that are to stay. The first call of `stop` decides about these;
 * others wait until it is done.
 */
export interface Supervisor {
  start(): Promise<void>
  /** Parts of another version, which take over from these. `stop` ends them first. */
  adopt(parts: readonly RunningPart[]): void
  /** Default: `PlatformEnd.EndVms`. */
  stop(end?: PlatformEnd): Promise<void>
}

/**
 * How long all parts together may take to stop. Users are promised ten seconds; the rest is for the
 * supervisor itself.
 */
const defaultStopLimitMs = 9_000

/** `closing` is what the parts heed: once it has aborted, none of them starts. */
export function supervise(
  parts: readonly RunningPart[],
  closing: AbortController,
  stopLimitMs = defaultStopLimitMs,
): Supervisor {
  const all = [...parts]
  let stopped: Promise<void> | undefined

  async function stopAll(end: PlatformEnd): Promise<void> {
    closing.abort()
    const deadlineMs = Date.now() + stopLimitMs
    for (const one of all.toReversed()) await one.stop({ deadlineMs, end })
  }

  return {
    async start() {
      for (const one of parts) {
        if (closing.signal.aborted) return
        await one.start()
      }
    },
    adopt: (next) => void all.push(...next),
    stop: (end = PlatformEnd.EndVms) => (stopped ??= stopAll(end)),
  }
}
