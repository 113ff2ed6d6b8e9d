import { one } from '../../client/answers.ts'
import { isEnded, RolloutPhase } from '../../domain/rollout/phase.ts'
import { CommandFailure } from '../command-failure.ts'
import { tellUntil } from '../rollout/follow.ts'
import { sentenceOf } from '../rollout/words.ts'
import type { Rollout } from '../rollout/words.ts'
import type { Session } from '../session.ts'
import { launchBody } from './differences.ts'
import type { RollOutStep } from './rollout-steps.ts'

/** How long a step of a rollout is watched, unless a label says otherwise. Somebody sits there and waits. */
const bakeMs = 5_000

/**
 * Rolls a service out, and waits until its old instances are deleted. Throws `CommandFailure` if it goes
 * back.
 */
export async function rollOut(session: Session, step: RollOutStep, deadlineMs: number): Promise<void> {
  const { configuration, differences, instances } = step
  const params = { path: { object: step.name } }
  const body = { ...launchBody(configuration, differences), ...planBody(step) }
  const { uuid, name, rollout } = one(
    await session.client.POST('/v1/services/{object}/rollouts', { params, body }),
  )
  const begun = rollout.new_instances?.length ?? 0
  const last = await tellUntil(session, {
    service: { uuid, name },
    rollout,
    isLast: ({ phase }) => isEnded(phase),
    textOf: (now) => textOf(name, now),
    deadlineMs,
  })
  if (last.phase !== RolloutPhase.Done) throw new CommandFailure(sentenceOf({ name, rollout: last }))
  if (begun < instances.length) {
    const left = instances.length - begun
    throw new CommandFailure(
      `${left} of the ${instances.length} instances of ${name} stopped meanwhile, and have no new version: run \`roost up\` again`,
    )
  }
}

/** The file is the way back, so no old version is kept. */
function planBody({ wishes }: RollOutStep) {
  const { canary, checkPath } = wishes
  return {
    ...(canary && { canary: [...canary] }),
    bake_s: (wishes.bakeMs ?? bakeMs) / 1_000,
    ...(checkPath !== undefined && { check: { path: checkPath } }),
    keep_s: 0,
  }
}

function textOf(name: string, rollout: Rollout): string {
  return rollout.phase === RolloutPhase.Kept
    ? `${name}: the new version serves, and the old one is being deleted`
    : sentenceOf({ name, rollout })
}
