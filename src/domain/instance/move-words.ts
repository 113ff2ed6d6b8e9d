import { MoveStep } from './lifecycle-state.ts'
import type { InstanceMove } from './projection.ts'
import { timeOf } from './words.ts'

/** What a move does now, and since when. */
export function moveWords({ step, sinceMs }: { readonly step: MoveStep; readonly sinceMs: number }): string {
  return `${wordsOf[step]}, since ${timeOf(sinceMs)}`
}

/** What became of the move that was asked for last, unless the instance moved. */
export function moveSentence({ from, to, step, sinceMs, failure }: InstanceMove): string | undefined {
  const way = `from host ${from.nodeId} to host ${to.nodeId}`
  if (failure !== undefined) return `it did not move ${way} at ${timeOf(sinceMs)}: ${failure}`
  return step === undefined ? undefined : `it is moving ${way}: ${moveWords({ step, sinceMs })}`
}

const wordsOf = {
  [MoveStep.Wanted]: 'it waits until the instance runs, sleeps or is stopped',
  [MoveStep.Copy]: 'its volume is being copied to its new host while it runs',
  [MoveStep.Hold]: 'its old host begins to hold it',
  [MoveStep.Fetch]: 'what it has is fetched',
  [MoveStep.Row]: 'its new host is written down',
  [MoveStep.Take]: 'its new host takes it',
  [MoveStep.Release]: 'it failed, and its old host lets it go on',
} satisfies Record<MoveStep, string>
