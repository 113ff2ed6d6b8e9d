import type { FailedEntry } from '../contract/envelope.ts'
import { failures, someFailedMessage } from '../contract/errors.ts'
import { ErrorCode } from '../contract/failure.ts'
import type { DataKey } from '../contract/operation.ts'

/**
 * Puts the entries into the envelope. If an entry failed, the envelope has a message, because clients show
 * that message before those of the entries.
 */
export function answerEnvelope(
  dataKey: DataKey,
  entries: readonly object[],
): Readonly<Record<string, unknown>> {
  const data = { [dataKey]: entries }
  const failed = entries.filter(isFailed)
  if (failed.length === 0) return { status: 'success', data }
  const timedOut = failed.every((entry) => entry.error === ErrorCode.TimedOut)
  const message = timedOut ? failures.timedOut.sentence : someFailedMessage
  return { status: failed.length === entries.length ? 'error' : 'partial_success', message, data }
}

function isFailed(entry: object): entry is FailedEntry {
  return 'status' in entry && entry.status === 'error'
}
