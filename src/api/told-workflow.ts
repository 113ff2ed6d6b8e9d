import { ControlUnavailable } from '../control/control-unavailable.ts'
import type { Call } from './call.ts'

/**
 * Waits until a workflow was told of a change whose rows are already written. Returns false if Temporal or
 * the worker does not answer. The request succeeds all the same, and the log says who tells the workflow
 * later.
 */
export async function wasTold(
  telling: Promise<void>,
  call: Call,
  {
    object,
    instead,
  }: {
    /** The field that names the object in the log. */
    readonly object: Readonly<Record<string, string>>
    /** What happens because the workflow was not told. */
    readonly instead: string
  },
): Promise<boolean> {
  try {
    await telling
    return true
  } catch (error) {
    if (!(error instanceof ControlUnavailable)) throw error
    call.log.warn({ err: error, ...object }, `Temporal or the worker does not answer: ${instead}`)
    return false
  }
}
