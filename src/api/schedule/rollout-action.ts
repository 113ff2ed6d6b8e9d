import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { OperationBody } from '../../contract/operation.ts'
import type { createSchedules } from '../../contract/schedule/operations.ts'
import type { Variables } from '../../db/schedule/row.ts'
import { parseImageReference, publicImageReference } from '../../domain/image/reference.ts'
import { parseObjectName } from '../../domain/object-name.ts'
import { ScheduleActionType } from '../../domain/schedule/action.ts'
import type { RolloutAction } from '../../domain/schedule/action.ts'
import type { ResolvedImage } from '../../registry/image-resolver.ts'
import { wantedArguments } from '../instance/new-instance.ts'
import { planOf, rolloutProblems } from '../rollout/plan.ts'
import { presentPlan } from '../rollout/view.ts'

type RolloutBody = NonNullable<OperationBody<typeof createSchedules>['action']['rollout']>

/** What is wrong with a rollout in a schedule, whatever its service is like. */
export function scheduledRolloutProblems(body: RolloutBody): readonly Problem[] {
  const { service: _service, ...rollout } = body
  const place = 'rollout description'
  return [
    ...rolloutProblems(rollout),
    // Arguments are read as the image wants them, and which image it will be is not known yet.
    ...(body.args !== undefined && body.image === undefined
      ? [problem('onlyWith', { name: 'args', other: "'image'", place })]
      : []),
    ...(body.env !== undefined && body.add?.env !== undefined
      ? [problem('notBoth', { name: 'env', other: 'add', place })]
      : []),
    ...(body.clear !== undefined && body.clear.includes('args')
      ? [problem('notBoth', { name: 'clear', other: "the value 'args'", place })]
      : []),
  ]
}

/** The action that a body without problems means, with the variables that are stored beside it. */
export function rolloutAction(
  body: RolloutBody,
  image: Extract<ResolvedImage, { readonly kind: 'found' }> | undefined,
): { readonly action: RolloutAction; readonly env: Variables } {
  const args =
    image === undefined || body.args === undefined ? undefined : wantedArguments(body.args, image.facts)
  const isCleared = body.clear?.includes('env') === true
  return {
    action: {
      type: ScheduleActionType.Rollout,
      service: parseObjectName(body.service) ?? body.service,
      ...(image !== undefined && { image: image.reference }),
      ...(args !== undefined && { args }),
      ...(body.memory_mb !== undefined && { memoryMb: body.memory_mb }),
      ...(body.vcpus !== undefined && { vcpus: body.vcpus }),
      replacesVariables: body.env !== undefined || isCleared,
      removedVariables: [body.del?.env ?? []].flat(),
      plan: planOf(body),
      supersede: body.supersede === true,
    },
    env: body.env ?? body.add?.env ?? {},
  }
}

/** The action as requests have it, with all defaults. */
export function presentRolloutAction(action: RolloutAction, env: Variables) {
  const { service, image, args, memoryMb, vcpus, replacesVariables, removedVariables, plan, supersede } =
    action
  const reference = image === undefined ? undefined : parseImageReference(image)
  const variables = { ...env }
  return {
    service,
    ...(image !== undefined && { image: reference === undefined ? image : publicImageReference(reference) }),
    ...(args && { args: [...args] }),
    ...(memoryMb !== undefined && { memory_mb: memoryMb }),
    ...(vcpus !== undefined && { vcpus }),
    ...(replacesVariables && { env: variables }),
    ...(!replacesVariables && Object.keys(env).length > 0 && { add: { env: variables } }),
    ...(removedVariables.length > 0 && { del: { env: [...removedVariables] } }),
    ...presentPlan(plan),
    supersede,
  }
}
