import type { Entry } from '../../src/client/answers.ts'
import { RolloutPhase } from '../../src/domain/rollout/phase.ts'
import { Mood } from '../instance/mood.ts'

export type Rollout = Entry<'GetRolloutsAnswer'>['rollouts'][number]

const phases: Readonly<Record<RolloutPhase, readonly [mood: Mood, word: string]>> = {
  [RolloutPhase.Preparing]: [Mood.Moves, 'Preparing'],
  [RolloutPhase.Baking]: [Mood.Moves, 'Baking'],
  [RolloutPhase.Kept]: [Mood.Runs, 'Serves'],
  [RolloutPhase.Returning]: [Mood.Moves, 'Goes back'],
  [RolloutPhase.Done]: [Mood.Runs, 'Done'],
  [RolloutPhase.Returned]: [Mood.Fails, 'Went back'],
}

export function rolloutState({ phase }: Pick<Rollout, 'phase'>) {
  const [mood, word] = phases[phase]
  return { mood, word }
}

/** What going back would do now; undefined if there is nothing to go back to. */
export function wayBack({ phase, old_instances: old = [] }: Rollout): string | undefined {
  if (phase === RolloutPhase.Preparing || phase === RolloutPhase.Baking)
    return 'The old version gets all traffic again, and the new one is deleted.'
  if (phase !== RolloutPhase.Kept || old.length === 0) return undefined
  return 'The old version is started. Once it is healthy it gets all traffic, and the new one is deleted.'
}

/** What the new version has that the old one has not. */
export function changesText({ changes }: Rollout): string {
  return changes.length === 0 ? 'the same version again' : changes.join('; ')
}
