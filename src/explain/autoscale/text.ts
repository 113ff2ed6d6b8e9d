import { amountOf, boundsOf } from '../../domain/autoscale/explanation.ts'
import { AdjustmentType, AutoscaleMetric } from '../../domain/autoscale/policy.ts'
import type { AutoscaleConfiguration, AutoscalePolicy } from '../../domain/autoscale/policy.ts'
import type { AutoscaleView } from '../../domain/autoscale/watch.ts'
import { table } from '../../primitives/text-table.ts'
import { point } from '../explanation-text.ts'
import type { AutoscaleFacts, ExplainedMember } from './facts.ts'

export function autoscaleText(facts: AutoscaleFacts): string {
  const { now, next, failure, configuration, decisions } = facts
  const lines = [now, `next: ${next}`]
  if (failure !== undefined) lines.push(`what failed: ${failure}`)
  if (configuration !== null) lines.push('', ...configured(configuration, facts))
  if (facts.members.length > 0) lines.push('', membersTable(facts))
  if (facts.leaving.length > 0) lines.push(`given back, and leaving: ${facts.leaving.join(', ')}`)
  if (facts.view !== undefined) lines.push(...measured(facts.view))
  if (decisions.length > 0)
    lines.push('', 'lately:', ...decisions.map(({ at, what }) => point(`${at} ${what}`)))
  return lines.join('\n')
}

function configured(
  { minSize, maxSize, warmupMs, cooldownMs, policies }: AutoscaleConfiguration,
  { size, target }: AutoscaleFacts,
): readonly string[] {
  const wanted = target === null ? 'no size is decided on yet' : `${target} wanted`
  return [
    `size ${size}, ${wanted}, from ${minSize} to ${maxSize}; warm-up ${warmupMs} ms, cooldown ${cooldownMs} ms`,
    ...policies.flatMap(policyLines),
  ]
}

function policyLines({ name, metric, adjustmentType, steps }: AutoscalePolicy): readonly string[] {
  return [
    `policy ${name}, by ${metric}:`,
    ...steps.map((step) => point(`${boundsOf(step)}: ${adjustmentText[adjustmentType](step.adjustment)}`)),
  ]
}

const signed = (value: number): string => (value > 0 ? `+${value}` : String(value))
const adjustmentText = {
  [AdjustmentType.Change]: signed,
  [AdjustmentType.Exact]: (value) => `${value} in all`,
  [AdjustmentType.Percent]: (value) => `${signed(value)} %`,
} satisfies Record<AdjustmentType, (value: number) => string>

function membersTable({ members, view }: AutoscaleFacts): string {
  const head = ['NAME', 'UUID', 'HOST', 'STATE', 'COUNTS AS', 'MILLICORES', 'IN FLIGHT', 'REQ/S', 'WHY']
  return table([head, ...members.map((member) => row(member, view?.loads?.[member.name]))])
}

function row(
  { name, uuid, nodeId, state, standing, isMaster, failure }: ExplainedMember,
  load: Readonly<Record<AutoscaleMetric, number>> | undefined,
): readonly string[] {
  const amounts = Object.values(AutoscaleMetric).map((metric) =>
    load === undefined ? '-' : load[metric].toFixed(metric === AutoscaleMetric.Cpu ? 0 : 1),
  )
  const role = isMaster ? `${standing} (master)` : standing
  return [name, uuid, nodeId, state, role, ...amounts, failure ?? '-']
}

function measured({ atMs, metrics }: AutoscaleView): readonly string[] {
  if (atMs === undefined || metrics === undefined) return []
  return [
    '',
    `measured at ${new Date(atMs).toISOString()}:`,
    ...Object.values(AutoscaleMetric).map((metric) => point(amountOf(metric, metrics[metric]))),
  ]
}
