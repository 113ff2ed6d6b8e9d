import { problem } from '../../contract/errors.ts'
import { maxEnvVariables, maxTags } from '../../contract/limits.ts'
import type { updateInstances } from '../../contract/instance/operations.ts'
import type { OperationBody } from '../../contract/operation.ts'
import type { Problem } from '../../contract/errors.ts'
import { Refused } from '../../db/refused.ts'
import { parseImageReference, publicImageReference } from '../../domain/image/reference.ts'
import type { InstanceConfiguration } from '../../domain/instance/change.ts'
import { InstanceFeature } from '../../domain/instance/feature.ts'
import { findProcessExcess } from '../../domain/instance/process-size.ts'
import { RestartPolicy } from '../../domain/instance/restart-policy.ts'
import { ScaleToZeroPolicy, noScaleToZero } from '../../domain/standby/scale-to-zero.ts'
import type { ScaleToZero } from '../../domain/standby/scale-to-zero.ts'
import type { ResolvedImage } from '../../registry/image-resolver.ts'
import { wantedArguments } from './new-instance.ts'

export type ChangeBody = OperationBody<typeof updateInstances>
type FoundImage = Extract<ResolvedImage, { readonly kind: 'found' }>

/** One change of an instance, with the image that it needs to know. */
export interface WantedChange {
  readonly body: ChangeBody
  /** The new image, or the present one if only the arguments change. Absent: neither changes. */
  readonly image?: FoundImage
}

/** The image that has to be looked up for a change: its new one, or the present one for new arguments. */
export function imageToFind({ image, args }: ChangeBody, present: string): string | undefined {
  if (image !== undefined || args === undefined) return image
  const reference = parseImageReference(present)
  return reference === undefined ? present : publicImageReference(reference)
}

/** Returns what is wrong with a change, whatever its instance is like. */
export function changeProblem(body: ChangeBody, place: string): Problem | undefined {
  if (body.image !== undefined && parseImageReference(body.image) === undefined) {
    const reason = 'expected <app>:<tag> or <user>/<app>:<tag>, or a digest after @'
    return problem('invalidImage', { value: body.image, reason })
  }
  if ((body.drain_timeout_ms ?? 0) !== 0 && body.restart !== true)
    return problem('onlyWith', { name: 'drain_timeout_ms', other: "'restart'", place })
  const twice = (body.clear ?? []).find((name) => body[name] !== undefined)
  return twice === undefined ? undefined : problem('notBoth', { name: 'clear', other: twice, place })
}

/** The configuration after the changes, in their order. Throws `Refused`. */
export function changedConfiguration(
  now: InstanceConfiguration,
  changes: readonly WantedChange[],
): InstanceConfiguration {
  const after = changes.reduce(afterChange, now)
  const excess = findProcessExcess(after.args ?? [], after.env)
  if (excess !== undefined) throw new Refused({ kind: 'process-too-long', ...excess })
  refuseTooMany('env', Object.keys(after.env).length, maxEnvVariables)
  refuseTooMany('tags', after.tags.length, maxTags)
  return after
}

function refuseTooMany(what: string, count: number, limit: number): void {
  if (count > limit) throw new Refused({ kind: 'too-many-members', what, count, limit })
}

/** The parts of one change are made in this order: clear, set, del, add. */
function afterChange(now: InstanceConfiguration, { body, image }: WantedChange): InstanceConfiguration {
  const cleared = new Set(body.clear ?? [])
  return {
    image: body.image === undefined || image === undefined ? now.image : image.reference,
    args: cleared.has('args') ? null : afterArguments(now, { body, ...(image && { image }) }),
    env: afterVariables(cleared.has('env') ? {} : now.env, body),
    memoryMb: body.memory_mb ?? now.memoryMb,
    vcpus: body.vcpus ?? now.vcpus,
    restartPolicy: cleared.has('restart_policy')
      ? RestartPolicy.Never
      : (body.restart_policy ?? now.restartPolicy),
    deleteOnStop: cleared.has('features')
      ? false
      : (body.features?.includes(InstanceFeature.DeleteOnStop) ?? now.deleteOnStop),
    scaleToZero: cleared.has('scale_to_zero') ? noScaleToZero : afterScaleToZero(now.scaleToZero, body),
    tags: afterTags(cleared.has('tags') ? [] : now.tags, body),
  }
}

function afterArguments(
  now: InstanceConfiguration,
  { body, image }: WantedChange,
): InstanceConfiguration['args'] {
  if (body.args === undefined || image === undefined) return now.args
  return wantedArguments(body.args, image.facts) ?? null
}

function afterVariables(
  now: InstanceConfiguration['env'],
  { env, add, del }: ChangeBody,
): InstanceConfiguration['env'] {
  const gone = new Set([del?.env ?? []].flat())
  const kept = Object.entries(env ?? now).filter(([name]) => !gone.has(name))
  return { ...Object.fromEntries(kept), ...add?.env }
}

function afterTags(now: readonly string[], { tags, add, del }: ChangeBody): readonly string[] {
  const gone = new Set(del?.tags ?? [])
  const kept = (tags ?? now).filter((tag) => !gone.has(tag))
  return [...new Set([...kept, ...(add?.tags ?? [])])]
}

/** What is left out stays. The deprecated feature means the policy `on`, as in a create. */
function afterScaleToZero(
  now: ScaleToZero,
  { scale_to_zero: wanted, features = [] }: ChangeBody,
): ScaleToZero {
  const policy = wanted?.policy ?? now.policy
  const isFeature = features.includes(InstanceFeature.ScaleToZero)
  return {
    policy: policy === ScaleToZeroPolicy.Off && isFeature ? ScaleToZeroPolicy.On : policy,
    cooldownMs: wanted?.cooldown_time_ms ?? now.cooldownMs,
    stateful: wanted?.stateful ?? now.stateful,
  }
}
