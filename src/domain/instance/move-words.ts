import { MoveStep } from './lifecycle-state.ts'
import type { InstanceMove } from './projection.ts'
import { timeOf } from './words.ts'

/** What a move does now, and since when. */
export function moveWords({
  step,
  sinceMs,
  notCopied,
}: Pick<InstanceMove, 'sinceMs' | 'notCopied'> & { readonly step: MoveStep }): string {
  const longer =
    notCopied === undefined
      ? ''
      : `; its volume could not be copied while it ran, because ${notCopied}, so all of it is copied while it waits`
  // A worker of a later version may write a step that is unknown here.
  const words = (wordsOf as Partial<Record<string, string>>)[step] ?? 'it is under way'
  return `${words}, since ${timeOf(sinceMs)}${longer}`
}

/** What became of the move that was asked for last, unless the instance moved. */
export function moveSentence({ from, to, step, failure, ...at }: InstanceMove): string | undefined {
  const way = `from host ${from.nodeId} to host ${to.nodeId}`
  if (failure !== undefined) return `it did not move ${way} at ${timeOf(at.sinceMs)}: ${failure}`
  return step === undefined ? undefined : `it is moving ${way}: ${moveWords({ step, ...at })}`
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
