import { problem, rangeProblem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import { maxDrainMs } from '../../contract/limits.ts'
import type { OperationBody } from '../../contract/operation.ts'
import type { createSchedules } from '../../contract/schedule/operations.ts'
import type { Variables } from '../../db/schedule/row.ts'
import { findLimitBreach } from '../../domain/account/quotas.ts'
import type { QuotaLimits } from '../../domain/account/quotas.ts'
import { parseImageReference } from '../../domain/image/reference.ts'
import { defaultMemoryMb, defaultVcpus } from '../../domain/instance/defaults.ts'
import { parseObjectName } from '../../domain/object-name.ts'
import { ScheduleActionType, defaultRunTimeoutMs } from '../../domain/schedule/action.ts'
import type { ScheduleAction } from '../../domain/schedule/action.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { findImage } from '../instance/find-image.ts'
import { newInstances, oversizedProcess } from '../instance/new-instance.ts'
import { rolloutAction, scheduledRolloutProblems } from './rollout-action.ts'
import { volumeChoiceProblems } from '../volume/choice.ts'

export type ActionBody = OperationBody<typeof createSchedules>['action']
type RunBody = NonNullable<ActionBody['run']>

/** An action as it is stored, with the variables that are stored beside it. */
export interface ReadAction {
  readonly action: ScheduleAction
  readonly env: Variables
}

/**
 * Finds the problems of an action that do not depend on the state of the platform. Whether the instances
 * that it names exist is seen at each run.
 */
export function actionProblems(body: ActionBody, limits: QuotaLimits): readonly Problem[] {
  const count = Object.values(ScheduleActionType).filter((type) => body[type] !== undefined).length
  if (count !== 1) return [problem('notOneAction', { place: 'schedule action', count })]
  if (body.rollout !== undefined) return scheduledRolloutProblems(body.rollout)
  return body.run === undefined ? [] : runProblems(body.run, limits)
}

function runProblems(body: RunBody, limits: QuotaLimits): readonly Problem[] {
  const found: Problem[] = []
  if (parseImageReference(body.image) === undefined) {
    const reason = 'expected <app>:<tag> or <user>/<app>:<tag>, or a digest after @'
    found.push(problem('invalidImage', { value: body.image, reason }))
  }
  found.push(...volumeChoiceProblems(body, limits))
  const oversized = oversizedProcess(body)
  if (oversized !== undefined) found.push(oversized)
  const breach = findLimitBreach(limits, {
    memoryMb: body.memory_mb ?? Math.max(defaultMemoryMb, limits.minMemoryMb),
    vcpus: body.vcpus ?? Math.max(defaultVcpus, limits.minVcpus),
  })
  if (breach !== undefined && body[breach.parameter] !== undefined)
    found.push(rangeProblem({ name: breach.parameter, min: breach.min, max: breach.max }))
  return found
}

/** The action that a body without `actionProblems` means, or the problem with its image. */
export async function readAction(
  deps: ApiDeps,
  call: Call,
  body: ActionBody,
): Promise<
  { readonly ok: true; readonly read: ReadAction } | { readonly ok: false; readonly wrong: Problem }
> {
  const { start, stop, run, rollout } = body
  if (start !== undefined) return done({ type: ScheduleActionType.Start, instances: namesOf(start) })
  if (stop !== undefined) {
    const { drain_timeout_ms: drain = 0 } = stop
    const drainMs = drain < 0 ? maxDrainMs : drain
    return done({ type: ScheduleActionType.Stop, instances: namesOf(stop), drainMs })
  }
  if (rollout !== undefined) {
    const found = rollout.image === undefined ? undefined : await findImage(deps, call, rollout.image)
    if (found !== undefined && 'message' in found) return { ok: false, wrong: found }
    return { ok: true, read: rolloutAction(rollout, found) }
  }
  const image = await findImage(deps, call, run!.image)
  if ('message' in image) return { ok: false, wrong: image }
  const made = newInstances(call.identity.userUuid, { body: run!, image, service: undefined })
  const { memoryMb, vcpus, args, volume, env } = made
  const action = {
    type: ScheduleActionType.Run,
    image: made.image,
    memoryMb,
    vcpus,
    timeoutMs: run!.timeout_s === undefined ? defaultRunTimeoutMs : run!.timeout_s * 1_000,
    ...(args !== undefined && { args }),
    ...(volume !== undefined && { volume }),
  }
  return done(action, env)
}

function done(action: ScheduleAction, env: Variables = {}) {
  return { ok: true as const, read: { action, env } }
}

function namesOf({ instances }: { readonly instances: readonly string[] }): readonly string[] {
  return instances.map((name) => parseObjectName(name) ?? name)
}
