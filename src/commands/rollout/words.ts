import type { Entry } from '../../client/answers.ts'
import { RolloutPhase } from '../../domain/rollout/phase.ts'
import { visibleText } from '../../domain/plain-text.ts'

export type Rollout = Entry<'GetRolloutsAnswer'>['rollouts'][number]

export interface NamedRollout {
  /** The name of the service. */
  readonly name: string
  readonly rollout: Rollout
}

/** How far a rollout is, for people. */
export function sentenceOf({ name, rollout }: NamedRollout): string {
  return `${name}: ${visibleText(wordsOfPhase[rollout.phase](rollout, name))}`
}

/** Which version serves while or after a rollout, if only one does. */
export function servingVersion({ phase }: Rollout): 'old' | 'next' | undefined {
  return serving[phase]
}

const serving: Readonly<Record<RolloutPhase, 'old' | 'next' | undefined>> = {
  [RolloutPhase.Preparing]: undefined,
  [RolloutPhase.Baking]: undefined,
  [RolloutPhase.Kept]: 'next',
  [RolloutPhase.Returning]: undefined,
  [RolloutPhase.Done]: 'next',
  [RolloutPhase.Returned]: 'old',
}

const wordsOfPhase: Readonly<Record<RolloutPhase, (rollout: Rollout, name: string) => string>> = {
  [RolloutPhase.Preparing]: (rollout) => `${stepOf(rollout)}: waits until the new version is healthy`,
  [RolloutPhase.Baking]: (rollout) =>
    `${stepOf(rollout)}: the new version gets ${shareOf(rollout)} % of the traffic, and is watched for ${rollout.bake_s} s`,
  [RolloutPhase.Kept]: ({ kept_until: until, reason }, name) =>
    `the new version serves${reason === undefined ? '' : `, because it could not go back: ${reason}`}` +
    (until === undefined
      ? ''
      : `; the old one is kept until ${until}, and \`roost rollback ${name}\` goes back`),
  [RolloutPhase.Returning]: ({ reason = 'it was asked to' }) => `goes back to the old version: ${reason}`,
  [RolloutPhase.Done]: () => 'the new version serves; the old one is deleted',
  [RolloutPhase.Returned]: ({ reason = 'it was asked to go back' }) =>
    `the old version serves again: ${reason}`,
}

function stepOf({ step, canary }: Rollout): string {
  return `step ${step} of ${canary.length}`
}

function shareOf({ percent, step, canary }: Rollout): number {
  return percent ?? canary[step - 1] ?? 100
}
