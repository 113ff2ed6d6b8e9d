import type { AutoscaleOutcome } from '../../src/domain/autoscale/outcome.ts'

/** Results of a watch, for tests that need no details. */

export function resizeTo(target: number, from = 1): AutoscaleOutcome {
  const step = { lowerBound: 500, adjustment: target - from }
  const decision = { from, to: target, policy: 'busy', metric: 'cpu', value: 900, step } as const
  return { kind: 'resize', target, decision: { ...decision, counted: from, proposed: target } }
}

export const replaceOne: AutoscaleOutcome = {
  kind: 'replace',
  target: 3,
  failed: [{ uuid: '00000000-0000-4000-8000-000000000001', name: 'web-ab12c', reason: 'it never got ready' }],
}
