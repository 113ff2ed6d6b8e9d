import type { InstanceConfiguration } from '../instance/change.ts'
import { RolloutPhase } from '../rollout/phase.ts'
import type { RolloutAction } from './action.ts'
import { RunResult } from './run.ts'
import type { RunStep } from './run.ts'

/** What an instance of the new version is like. `variables` are those that the action is stored with. */
export function afterRollout(
  now: InstanceConfiguration,
  action: RolloutAction,
  variables: Readonly<Record<string, string>>,
): InstanceConfiguration {
  const removed = new Set(action.removedVariables)
  const kept = Object.entries(now.env).filter(([name]) => !removed.has(name))
  return {
    ...now,
    image: action.image ?? now.image,
    args: action.args ?? now.args,
    memoryMb: action.memoryMb ?? now.memoryMb,
    vcpus: action.vcpus ?? now.vcpus,
    env: action.replacesVariables ? variables : { ...Object.fromEntries(kept), ...variables },
  }
}

/** The rollout that a run began, as its row has it. Absent: it is gone with its service. */
export interface BegunRollout {
  readonly phase: RolloutPhase
  readonly reason: string | null
}

/** The pause between two looks at a rollout. */
const pauseMs = 2_000

/** What a run does that has begun a rollout. */
export function decideRolloutRun(rollout: BegunRollout | undefined): RunStep {
  if (rollout === undefined) return failed('its service was deleted')
  return byPhase[rollout.phase](rollout)
}

const waits = (): RunStep => ({ kind: 'wait', ms: pauseMs })
const succeeded = (): RunStep => ({
  kind: 'end',
  result: RunResult.Succeeded,
  reason: 'the new version serves',
})

const byPhase: Readonly<Record<RolloutPhase, (rollout: BegunRollout) => RunStep>> = {
  [RolloutPhase.Preparing]: waits,
  [RolloutPhase.Baking]: waits,
  [RolloutPhase.Returning]: waits,
  [RolloutPhase.Kept]: succeeded,
  [RolloutPhase.Done]: succeeded,
  [RolloutPhase.Returned]: ({ reason }) => failed(`it went back: ${reason ?? 'no reason is known'}`),
}

function failed(reason: string): RunStep {
  return { kind: 'end', result: RunResult.Failed, reason }
}
