import type { getAutoscale, getAutoscalePolicies } from '../../contract/autoscale/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { AutoscaleRow } from '../../db/autoscale/configurations.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import type { AutoscalePolicy } from '../../domain/autoscale/policy.ts'

type Details = OperationEntry<typeof getAutoscale>
type Policy = Omit<OperationEntry<typeof getAutoscalePolicies>, 'status'>

/**
 * The view of a service's configuration. If there is none, `row` is undefined, and the view has only `uuid`
 * and `name` beside its status, as clients expect.
 */
export function presentAutoscale(
  { uuid, name }: Pick<ServiceRow, 'uuid' | 'name'>,
  row: AutoscaleRow | undefined,
): Details {
  if (row === undefined) return { status: 'unconfigured', uuid, name }
  return {
    status: 'success',
    uuid,
    name,
    enabled: true,
    min_size: row.minSize,
    max_size: row.maxSize,
    warmup_time_ms: row.warmupMs,
    cooldown_time_ms: row.cooldownMs,
    master: { uuid: row.master.uuid, name: row.master.name },
    policies: row.policies.map(presentPolicy),
  }
}

/** The view of a policy. An open bound is left out, because null breaks clients. */
export function presentPolicy({ name, metric, adjustmentType, steps }: AutoscalePolicy): Policy {
  return {
    name,
    type: 'step',
    enabled: true,
    metric,
    adjustment_type: adjustmentType,
    steps: steps.map(({ lowerBound, upperBound, adjustment }) => ({
      ...(lowerBound === undefined ? {} : { lower_bound: lowerBound }),
      ...(upperBound === undefined ? {} : { upper_bound: upperBound }),
      adjustment,
    })),
  }
}
