import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { OperationBody } from '../../contract/operation.ts'
import { createRollouts } from '../../contract/rollout/operations.ts'
import type { NewRollout } from '../../db/rollout/create.ts'
import { checkPathPattern, checkPathSentence } from '../../domain/rollout/check.ts'
import {
  defaultBakeMs,
  defaultCanary,
  defaultCheck,
  defaultKeepMs,
  defaultMaxErrorPercent,
} from '../../domain/rollout/plan.ts'
import { changeProblem } from '../instance/changed-configuration.ts'

export type RolloutBody = Omit<OperationBody<typeof createRollouts>, 'id'> & { readonly id?: string }

const { place } = createRollouts
const checkPlace = 'check description'

/** What is wrong with a rollout, whatever its service is like. */
export function rolloutProblems(body: RolloutBody): readonly Problem[] {
  const change = changeProblem(body, place)
  const { canary = defaultCanary, check } = body
  const grows = canary.every((share, index) => share > (canary[index - 1] ?? 0)) && canary.at(-1) === 100
  return [
    ...(change === undefined ? [] : [change]),
    ...(grows ? [] : [problem('canaryNotGrowing', { place, value: canary.join(', ') })]),
    ...(check?.path === undefined || checkPathPattern.test(check.path) ? [] : [wrongPath(check.path)]),
    ...(check?.status !== undefined && check.path === undefined
      ? [problem('onlyWith', { name: 'status', other: "'path'", place: checkPlace })]
      : []),
  ]
}

function wrongPath(path: string): Problem {
  const reason = `it must be ${checkPathSentence}, but is '${path}'`
  return problem('invalidContent', { name: 'path', place: checkPlace, reason })
}

/** How the new version is brought in, with all defaults. */
export function planOf(body: RolloutBody): NewRollout['plan'] {
  const { check = {} } = body
  return {
    canary: body.canary ?? defaultCanary,
    bakeMs: ms(body.bake_s, defaultBakeMs),
    maxErrorPercent: body.max_error_percent ?? defaultMaxErrorPercent,
    ...(body.max_latency_ms !== undefined && { maxLatencyMs: body.max_latency_ms }),
    keepMs: ms(body.keep_s, defaultKeepMs),
    check: {
      ...(check.port !== undefined && { port: check.port }),
      ...(check.path !== undefined && { path: check.path }),
      ...(check.status !== undefined && { status: check.status }),
      times: check.times ?? defaultCheck.times,
      intervalMs: check.interval_ms ?? defaultCheck.intervalMs,
      timeoutMs: check.timeout_ms ?? defaultCheck.timeoutMs,
      limitMs: ms(check.limit_s, defaultCheck.limitMs),
    },
  }
}

function ms(seconds: number | undefined, fallbackMs: number): number {
  return seconds === undefined ? fallbackMs : seconds * 1_000
}
