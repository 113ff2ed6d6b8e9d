import type { VNode } from 'preact'
import { who } from '../account/session.ts'
import { quotas } from './quotas.ts'
import type { QuotaKey } from './quotas.ts'

export const quotaLabels: Readonly<Record<QuotaKey, readonly [label: string, unit: string]>> = {
  instances: ['Instances', ''],
  live_instances: ['Not stopped', ''],
  live_memory_mb: ['Memory of those', 'MiB'],
  live_vcpus: ['Processors of those', ''],
  service_groups: ['Services', ''],
  services: ['Ports of services', ''],
  volumes: ['Number of volumes', ''],
  total_volume_mb: ['Volumes', 'MiB'],
  registry_mb: ['Images', 'MiB'],
  image_mb: ['Images on a host', 'MiB'],
  snapshot_mb: ['Memory of sleepers', 'MiB'],
}
export const quotaKeys = Object.keys(quotaLabels) as QuotaKey[]

/** How much of these quotas the account uses. */
export function Quotas({ keys }: { readonly keys: readonly QuotaKey[] }): VNode {
  if (who.value?.services !== null) {
    return <p class="card-body soft">Only a token for the whole account sees its quotas.</p>
  }
  const { used, hard } = quotas.value ?? {}
  return (
    <dl class="card-body meters">
      {keys.map((key) => (
        <Meter
          key={key}
          label={quotaLabels[key][0]}
          unit={quotaLabels[key][1]}
          used={used?.[key]}
          of={hard?.[key]}
        />
      ))}
    </dl>
  )
}

const full = 0.9

/** How much of something is used, as numbers and as a bar. To be put into a list of the class `meters`. */
export function Meter(props: {
  readonly label: string
  readonly unit: string
  readonly used: number | undefined
  readonly of: number | undefined
}): VNode {
  const { used = 0, of = 0 } = props
  const share = of === 0 ? 0 : used / of
  return (
    <div class="meter">
      <dt class="soft">{props.label}</dt>
      <dd class="number">
        {props.used ?? '–'}{' '}
        <span class="faint">
          of {props.of ?? '–'} {props.unit}
        </span>
      </dd>
      <dd class="meter-bar" aria-hidden="true">
        <span
          class={share >= full ? 'meter-used full' : 'meter-used'}
          style={{ width: `${Math.min(1, share) * 100}%` }}
        />
      </dd>
    </div>
  )
}
