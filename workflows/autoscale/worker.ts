import { isCancellation, sleep } from '@temporalio/workflow'
import type { AutoscaleLifeEvent, AutoscaleWork } from '../../src/domain/autoscale/life.ts'
import { perform } from './calls.ts'
import { unexpectedPauseMs } from '../host-calls.ts'
import { createOneWork } from '../one-work.ts'
import type { OneWork } from '../one-work.ts'

/** Carries out the work, one piece at a time. */
export function createAutoscaleWorker(of: {
  readonly serviceUuid: string
  readonly say: (event: AutoscaleLifeEvent) => void
  readonly onDone: () => void
}): OneWork<AutoscaleWork> {
  const { serviceUuid, say, onDone } = of

  async function carryOut(work: AutoscaleWork): Promise<void> {
    try {
      say(await perform(work, { serviceUuid }))
    } catch (error) {
      if (isCancellation(error)) return
      await sleep(unexpectedPauseMs, { summary: `${work.kind} failed; again after this` }).catch(
        () => undefined,
      )
    }
  }

  return createOneWork({ carryOut, onDone, isSame })
}

/**
 * A watch that is to look for another size is another one. Made of the same fields in the same order, so this
 * is exact.
 */
function isSame(one: AutoscaleWork, other: AutoscaleWork): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
