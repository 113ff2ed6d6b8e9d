import { PlatformEnd } from '../end-signals.ts'
import type { Part } from './part.ts'
import type { PartRunOptions } from './part-run.ts'
import { SupervisedPart } from './supervised-part.ts'

/**
 * Runs the parts of a stack, each in a process of its own.
 *
 * `start` starts the parts one after another, each only when the one before is ready. It fails if a part
 * ends before it is ready. After that, a part that ends is started again with back-off, for ever. `stop`
 * ends the parts in the reverse order. A part that has not ended after `stopLimitMs` is killed, so that no
 * process is left behind but virtual machines that are to stay. The first call of `stop` decides about these;
 * others wait until it is done.
 */
export interface Supervisor {
  start(): Promise<void>
  /** Default: `PlatformEnd.EndVms`. */
  stop(end?: PlatformEnd): Promise<void>
}

export interface SupervisorOptions extends PartRunOptions {
  readonly parts: readonly Part[]
  readonly stopLimitMs?: number
}

/**
 * How long all parts together may take to stop. Users are promised ten seconds; the rest is for the
 * supervisor itself.
 */
const defaultStopLimitMs = 9_000

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const stopping = new AbortController()
  const supervised = options.parts.map((part) => new SupervisedPart(part, options, stopping.signal))
  let stopped: Promise<void> | undefined

  async function stopAll(end: PlatformEnd): Promise<void> {
    stopping.abort()
    const deadlineMs = Date.now() + (options.stopLimitMs ?? defaultStopLimitMs)
    for (const one of supervised.toReversed()) await one.stop({ deadlineMs, end })
  }

  return {
    async start() {
      for (const one of supervised) {
        if (stopping.signal.aborted) return
        await one.start()
      }
    },
    stop: (end = PlatformEnd.EndVms) => (stopped ??= stopAll(end)),
  }
}
