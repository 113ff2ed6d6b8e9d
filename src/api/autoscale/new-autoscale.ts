import type { createAutoscale } from '../../contract/autoscale/operations.ts'
import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { OperationBody } from '../../contract/operation.ts'
import type { Reach } from '../../db/account/reach.ts'
import type { NewAutoscale } from '../../db/autoscale/configurations.ts'
import { defaultAutoscale } from '../../domain/autoscale/policy.ts'
import type { AutoscaleConfiguration, AutoscalePolicy } from '../../domain/autoscale/policy.ts'
import { readIdentifier } from '../body-identifier.ts'
import type { Read } from '../body-identifier.ts'
import { readPolicies } from './new-policies.ts'

type Body = OperationBody<typeof createAutoscale>

/**
 * Reads a configuration from a body, or returns everything that is wrong with it. Only problems that do not
 * depend on the state of the platform are found here.
 */
export function readAutoscale(
  { master: given, ...body }: Body,
  place: string,
): Read<Omit<NewAutoscale, keyof Reach | 'serviceUuid'>> {
  const master = readIdentifier(given, `'master' of ${place}`)
  const wishes = readWishes(body, place)
  if (!master.ok || !wishes.ok) {
    const problems = [master, wishes].flatMap((read) => (read.ok ? [] : read.problems))
    return { ok: false, problems }
  }
  const { warmupMs = defaultAutoscale.warmupMs, cooldownMs = defaultAutoscale.cooldownMs } = wishes.value
  return {
    ok: true,
    value: { policies: [], ...wishes.value, master: master.value, warmupMs, cooldownMs },
  }
}

/** What a body says of a configuration. What it leaves out is absent. */
export function readWishes(body: Omit<Body, 'master'>, place: string): Read<Partial<AutoscaleConfiguration>> {
  const policies = readPolicies(body.policies ?? [])
  const problems = [
    ...crossedSizes(body),
    ...(policies.ok ? repeatedPolicies(policies.value, place) : policies.problems),
  ]
  if (!policies.ok || problems.length > 0) return { ok: false, problems }
  const {
    min_size: minSize,
    max_size: maxSize,
    warmup_time_ms: warmupMs,
    cooldown_time_ms: cooldownMs,
  } = body
  return {
    ok: true,
    value: {
      ...(minSize !== undefined && { minSize }),
      ...(maxSize !== undefined && { maxSize }),
      ...(warmupMs !== undefined && { warmupMs }),
      ...(cooldownMs !== undefined && { cooldownMs }),
      ...(body.policies !== undefined && { policies: policies.value }),
    },
  }
}

/**
 * The problem if the smallest size is above the largest. The sizes are compared only if both are given,
 * because a default depends on the account.
 */
function crossedSizes({ min_size: min, max_size: max }: Omit<Body, 'master'>): readonly Problem[] {
  return min !== undefined && max !== undefined && min > max ? [problem('sizesCrossed', { min, max })] : []
}

function repeatedPolicies(policies: readonly AutoscalePolicy[], place: string): readonly Problem[] {
  const names = policies.map(({ name }) => name)
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  return [...repeated].map((name) => problem('repeatedPolicy', { name, place }))
}
