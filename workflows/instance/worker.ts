import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow'
import { HostWorkKind } from '../../src/domain/instance/lifecycle-effects.ts'
import type { HostWork } from '../../src/domain/instance/lifecycle-effects.ts'
import type { LifecycleEvent } from '../../src/domain/instance/lifecycle-state.ts'
import { eventOfFailure, nameOfWork, perform } from './calls.ts'
import { isNodeAway, unexpectedPauseMs } from '../host-calls.ts'

/**
 * Carries out the host's share of the effects. Several calls may be under way: a forced stop beside the
 * graceful one that it overtakes, a start whose boot already ended beside the start of the next.
 */
export interface HostWorker {
  /**
   * Begins the wanted work unless it is under way, and calls off what is replaced: a start by a stop or a
   * removal, a drain by anything that runs on. A stop ends the drain at the host itself; calling it off would
   * let traffic in again before that.
   */
  align(work: HostWork | undefined): void
  readonly busy: boolean
  /** The host took no work when it was last asked. */
  readonly nodeAway: boolean
}

export interface HostWorkerOptions {
  readonly instanceUuid: string
  readonly nodeId: string
  readonly nodeAway: boolean
  readonly say: (event: LifecycleEvent) => void
  /** Some work is no longer under way: whoever wants it done looks again. */
  readonly onDone: () => void
}

export function createHostWorker(options: HostWorkerOptions): HostWorker {
  const underWay = new Map<string, { readonly scope: CancellationScope; readonly work: HostWork }>()
  let { nodeAway } = options

  async function carryOut(work: HostWork): Promise<void> {
    try {
      const events = await perform(work, { ...options, nodeAway })
      nodeAway = false
      for (const event of events) options.say(event)
    } catch (error) {
      if (isCancellation(error)) return
      nodeAway = isNodeAway(error)
      if (nodeAway) return
      const event = eventOfFailure(work, error)
      if (event === undefined)
        await sleep(unexpectedPauseMs, { summary: `${nameOfWork(work)} failed; again after this` })
      else options.say(event)
    }
  }

  async function launch(work: HostWork): Promise<void> {
    const scope = new CancellationScope()
    underWay.set(nameOfWork(work), { scope, work })
    await scope.run(() => carryOut(work))
    underWay.delete(nameOfWork(work))
    options.onDone()
  }

  return {
    align(work) {
      for (const one of underWay.values()) if (isReplaced(one.work, work)) one.scope.cancel()
      if (work !== undefined && !underWay.has(nameOfWork(work))) void launch(work)
    },
    get busy() {
      return underWay.size > 0
    },
    get nodeAway() {
      return nodeAway
    },
  }
}

function isReplaced(old: HostWork, by: HostWork | undefined): boolean {
  const ends = by?.kind === HostWorkKind.Stop || by?.kind === HostWorkKind.Remove
  if (old.kind === HostWorkKind.Start) return ends
  return old.kind === HostWorkKind.Drain && !ends && by?.kind !== HostWorkKind.Drain
}
